// A topology from a study: network.dimensions, and network.links that differ from the rest.
#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "astra/core/mix.h"
#include "astra/core/nearest.h"
#include "astra/core/noise.h"
#include "network/topology/topology.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostNoisyLinks = 1U << 20U;
constexpr double kSlowestLink = 0.1;  // of what it would be without noise

const DimensionInfo& kind_named(const ConfigView& view) {
    return *dimension_kinds().find(view.as_choice(dimension_kinds().names()));
}

LinkProperties read_link(const ConfigView& item, bool needed) {
    LinkProperties link;
    if (needed || item.has("bandwidth")) {
        link.bandwidth = item.at("bandwidth").as_bandwidth();
        if (link.bandwidth.bits_per_s == 0) {
            item.at("bandwidth").fail("a link needs a bandwidth above 0");
        }
    }
    link.latency = item.duration_or("latency", {});
    return link;
}

Topology::Wiring read_wiring(const ConfigView& item) {
    const DimensionInfo& kind = kind_named(item.at("topology"));
    Topology::Wiring wiring;
    wiring.kind = kind.name;
    std::uint32_t ports = 0;
    if (!kind.from_file || item.has("ranks")) {
        ports = static_cast<std::uint32_t>(item.at("ranks").as_integer(1, kMostRanks));
    }
    const LinkProperties link = read_link(item, !kind.from_file);
    if (!kind.from_file) {
        wiring.bandwidth_text = item.at("bandwidth").as_string();
    }
    wiring.dimension = kind.build({ports, link, item});
    return wiring;
}

}  // namespace

Topology Topology::from_config(const ConfigView& network) {
    const ConfigView list = network.at("dimensions");
    std::vector<Wiring> wirings;
    std::uint64_t ranks = 1;
    std::uint64_t links = 0;
    for (const ConfigView& item : list.items()) {
        wirings.push_back(read_wiring(item));
        ranks *= wirings.back().dimension->ports();
        if (ranks > kMostRanks) {
            item.at("ranks").fail(fmt::format("the product of all ranks passes {}", kMostRanks));
        }
    }
    if (wirings.empty()) {
        list.fail("a network needs at least one dimension");
    }
    for (const Wiring& wiring : wirings) {
        links += wiring.dimension->links() * (ranks / wiring.dimension->ports());
    }
    if (links > kMostLinks) {
        list.fail(fmt::format("{} links; at most {} can be held", links, kMostLinks));
    }
    Topology topology(std::move(wirings));
    if (const auto overrides = network.find("links")) {
        topology.read_overrides(*overrides);
    }
    const double deviation = network.number_or("bandwidth_noise", 0);
    if (deviation < 0 || deviation > 1) {
        network.at("bandwidth_noise").fail("expected a relative standard deviation from 0 to 1");
    }
    if (deviation > 0 && links > kMostNoisyLinks) {
        network.at("bandwidth_noise")
            .fail(fmt::format("{} links; at most {} can differ", links, kMostNoisyLinks));
    }
    if (deviation > 0) {
        topology.add_noise(deviation, network.integer_or("seed", 1, 0, ~std::uint64_t{0} >> 1U));
    }
    return topology;
}

// Each link has a bandwidth of its own for the whole run.
void Topology::add_noise(double deviation, std::uint64_t seed) {
    for (std::uint32_t link = 0; link < links_; ++link) {
        const double factor =
            noise_factor(deviation, mix(seed) ^ (std::uint64_t{link} << 20U), kSlowestLink);
        const auto bits = static_cast<double>(this->link(link).bandwidth.bits_per_s);
        Override change;
        change.bandwidth = {static_cast<std::uint64_t>(std::max(bits * factor, 1.0))};
        apply(link, change);
    }
}

void Topology::read_overrides(const ConfigView& list) {
    for (const ConfigView& item : list.items()) {
        Override change;
        if (item.has("bandwidth")) {
            change.bandwidth = read_link(item, true).bandwidth;
        }
        if (const auto latency = item.find("latency")) {
            change.latency = latency->as_duration();
        }
        change.down = item.bool_or("down", false);
        for (const std::uint32_t link : links_named(item)) {
            apply(link, change);
        }
    }
    std::sort(down_.begin(), down_.end());
    down_.erase(std::unique(down_.begin(), down_.end()), down_.end());
}

std::vector<std::uint32_t> Topology::links_named(const ConfigView& item) const {
    const std::uint32_t from = node_named(item.at("from"));
    const std::uint32_t to = node_named(item.at("to"));
    std::vector<std::uint32_t> chosen = links_between(from, to);
    if (chosen.empty()) {
        item.at("to").fail(fmt::format("no link from {} to {}", node_name(from), node_name(to)));
    }
    if (item.bool_or("both", true)) {
        const std::vector<std::uint32_t> back = links_between(to, from);
        chosen.insert(chosen.end(), back.begin(), back.end());
    }
    return chosen;
}

void Topology::apply(std::uint32_t link, const Override& change) {
    Part& part = parts_[wiring_of_link(link)];
    const std::size_t known = part.classes.size();
    for (std::size_t i = known; i < std::size_t{part.rows} * part.row_links; ++i) {
        part.classes.push_back(part.classes[i % known]);
    }
    LinkProperties properties = classes_[part.classes[link - part.first_link]];
    properties.bandwidth = change.bandwidth.value_or(properties.bandwidth);
    properties.latency = change.latency.value_or(properties.latency);
    part.classes[link - part.first_link] = class_of(properties);
    if (change.down) {
        down_.push_back(link);
    }
}

std::uint32_t Topology::node_named(const ConfigView& name) const {
    const std::string text = name.as_string();
    std::uint32_t rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error == std::errc() && end == text.data() + text.size() && rank < ranks_) {
        return rank;
    }
    for (std::uint32_t node = ranks_; node < nodes_; ++node) {
        if (node_name(node) == text) {
            return node;
        }
    }
    std::vector<std::string> names = {fmt::format("0 … {} (ranks)", ranks_ - 1)};
    constexpr std::uint32_t most_names = 10'000;
    for (std::uint32_t node = ranks_; node < nodes_ && names.size() < most_names; ++node) {
        names.push_back(node_name(node));
    }
    name.fail(fmt::format("no rank or switch '{}'{}", text, suggestion(text, names)));
}

// The one row that holds both nodes; its `local` is that of `from`.
std::optional<Topology::Place> Topology::row_with(std::uint32_t from, std::uint32_t to) const {
    if (from >= ranks_) {
        const Place place = place_of_switch(from);
        const bool same = to >= ranks_ ? place_of_switch(to).wiring == place.wiring &&
                                             place_of_switch(to).row == place.row
                                       : row_of(to, place.wiring) == place.row;
        return same ? std::optional(place) : std::nullopt;
    }
    if (to >= ranks_) {
        const auto place = row_with(to, from);
        return place
                   ? std::optional(Place{place->wiring, place->row, position(from, place->wiring)})
                   : std::nullopt;
    }
    for (std::uint32_t k = 0; k < wirings(); ++k) {
        if (position(from, k) != position(to, k) && row_of(from, k) == row_of(to, k)) {
            return Place{k, row_of(from, k), position(from, k)};
        }
    }
    return std::nullopt;
}

std::vector<std::uint32_t> Topology::links_between(std::uint32_t from, std::uint32_t to) const {
    std::vector<std::uint32_t> found;
    const auto place = row_with(from, to);
    if (!place) {
        return found;
    }
    const Dimension& dimension = wiring(place->wiring);
    const std::uint32_t first = first_link(place->wiring, place->row);
    for (std::uint32_t link = 0; link < dimension.links(); ++link) {
        const LinkEnds ends = link_ends(first + link);
        if (ends.from == from && ends.to == to) {
            found.push_back(first + link);
        }
    }
    return found;
}

}  // namespace astra
