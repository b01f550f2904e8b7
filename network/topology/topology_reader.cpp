#include "network/topology/topology_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "astra/core/mix.h"
#include "astra/core/noise.h"
#include "astra/core/text/nearest.h"
#include "network/topology/dimension.h"

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

std::uint32_t node_named(const Topology& topology, const ConfigView& name) {
    const std::string text = name.as_string();
    std::uint32_t rank = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), rank);
    if (error == std::errc() && end == text.data() + text.size() && rank < topology.ranks()) {
        return rank;
    }
    for (std::uint32_t node = topology.ranks(); node < topology.nodes(); ++node) {
        if (topology.node_name(node) == text) {
            return node;
        }
    }
    std::vector<std::string> names = {fmt::format("0 … {} (ranks)", topology.ranks() - 1)};
    constexpr std::uint32_t most_names = 10'000;
    for (std::uint32_t node = topology.ranks();
         node < topology.nodes() && names.size() < most_names;
         ++node) {
        names.push_back(topology.node_name(node));
    }
    name.fail(fmt::format("no rank or switch '{}'{}", text, suggestion(text, names)));
}

// Every link gets a bandwidth that it keeps for the whole run.
void add_noise(Topology& topology, double deviation, std::uint64_t seed) {
    for (std::uint32_t link = 0; link < topology.links(); ++link) {
        const double factor =
            noise_factor(deviation, mix(seed) ^ (std::uint64_t{link} << 20U), kSlowestLink);
        const auto bits = static_cast<double>(topology.link(link).bandwidth.bits_per_s);
        LinkOverride change;
        change.bandwidth = {static_cast<std::uint64_t>(std::max(bits * factor, 1.0))};
        topology.change_link(LinkId{link}, change);
    }
}

void read_changes(Topology& topology, const ConfigView& list) {
    for (const ConfigView& item : list.items()) {
        LinkOverride change;
        if (item.has("bandwidth")) {
            change.bandwidth = read_link(item, true).bandwidth;
        }
        if (const auto latency = item.find("latency")) {
            change.latency = latency->as_duration();
        }
        change.down = item.bool_or("down", false);
        for (const LinkId link : links_named(topology, item)) {
            topology.change_link(link, change);
        }
    }
}

}  // namespace

Topology::PhysicalDimension read_dimension(const ConfigView& item, const DimensionInfo& kind) {
    Topology::PhysicalDimension dimension;
    dimension.kind = kind.name;
    std::uint32_t ports = 0;
    if (!kind.from_file || item.has("ranks")) {
        ports = static_cast<std::uint32_t>(item.at("ranks").as_integer(1, kMostRanks));
        if (!kind.takes(ports)) {
            item.at("ranks").fail(kind.refusal(ports));
        }
    }
    const LinkProperties link = read_link(item, !kind.from_file);
    if (!kind.from_file) {
        dimension.bandwidth_text = item.at("bandwidth").as_string();
    }
    dimension.dimension = kind.build({ports, link, item});
    return dimension;
}

Topology read_topology(const ConfigView& network) {
    const ConfigView list = network.at("dimensions");
    std::vector<Topology::PhysicalDimension> dimensions;
    std::uint64_t ranks = 1;
    std::uint64_t links = 0;
    for (const ConfigView& item : list.items()) {
        dimensions.push_back(read_dimension(item, kind_named(item.at("topology"))));
        ranks *= dimensions.back().dimension->ports();
        if (ranks > kMostRanks) {
            item.at("ranks").fail(fmt::format("the product of all ranks passes {}", kMostRanks));
        }
    }
    if (dimensions.empty()) {
        list.fail("a network needs at least one dimension");
    }
    for (const Topology::PhysicalDimension& physical : dimensions) {
        links += physical.dimension->links() * (ranks / physical.dimension->ports());
    }
    if (links > kMostLinks) {
        list.fail(fmt::format("{} links; at most {} can be held", links, kMostLinks));
    }
    Topology topology(std::move(dimensions));
    if (const auto overrides = network.find("links")) {
        read_changes(topology, *overrides);
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
        add_noise(topology, deviation, network.seed_or("seed", 1));
    }
    return topology;
}

std::vector<LinkId> links_named(const Topology& topology, const ConfigView& item) {
    const std::uint32_t from = node_named(topology, item.at("from"));
    const std::uint32_t to = node_named(topology, item.at("to"));
    std::vector<LinkId> chosen = topology.links_between(from, to);
    if (chosen.empty()) {
        item.at("to").fail(
            fmt::format("no link from {} to {}", topology.node_name(from), topology.node_name(to)));
    }
    if (item.bool_or("both", true)) {
        const std::vector<LinkId> back = topology.links_between(to, from);
        chosen.insert(chosen.end(), back.begin(), back.end());
    }
    return chosen;
}

}  // namespace astra
