#include "network/topology/topology.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "astra/config/units.h"
#include "astra/core/check.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostRanks = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostLinks = std::uint64_t{1} << 24;

const DimensionInfo& kind_named(const ConfigView& view) {
    std::vector<std::string> names;
    for (const DimensionInfo* kind : dimension_kinds()) {
        names.emplace_back(kind->name);
    }
    const std::string name = view.as_choice(names);
    for (const DimensionInfo* kind : dimension_kinds()) {
        if (kind->name == name) {
            return *kind;
        }
    }
    view.fail("no such topology");
}

}  // namespace

Topology Topology::from_config(const ConfigView& network) {
    const ConfigView list = network.at("dimensions");
    std::vector<DimensionSpec> dimensions;
    std::uint64_t ranks = 1;
    std::uint64_t links = 0;
    for (const ConfigView& item : list.items()) {
        const DimensionInfo& kind = kind_named(item.at("topology"));
        DimensionSpec spec;
        spec.kind = kind.name;
        spec.ports = static_cast<std::uint32_t>(item.at("ranks").as_integer(1, kMostRanks));
        spec.bandwidth = item.at("bandwidth").as_bandwidth();
        spec.bandwidth_text = item.at("bandwidth").as_string();
        if (spec.bandwidth.bits_per_s == 0) {
            item.at("bandwidth").fail("a link needs a bandwidth above 0");
        }
        spec.latency = item.duration_or("latency", {});
        spec.wiring = kind.build(spec.ports, item);
        ranks *= spec.ports;
        if (ranks > kMostRanks) {
            item.at("ranks").fail(fmt::format("the product of all ranks passes {}", kMostRanks));
        }
        dimensions.push_back(std::move(spec));
    }
    if (dimensions.empty()) {
        list.fail("a network needs at least one dimension");
    }
    for (const DimensionSpec& spec : dimensions) {
        links += spec.wiring->links() * (ranks / spec.ports);
    }
    if (links > kMostLinks) {
        list.fail(fmt::format("{} links; at most {} can be held", links, kMostLinks));
    }
    return Topology(std::move(dimensions));
}

Topology::Topology(std::vector<DimensionSpec> dimensions) {
    for (DimensionSpec& spec : dimensions) {
        Part part;
        part.stride = ranks_;
        ranks_ *= spec.ports;
        part.spec = std::move(spec);
        parts_.push_back(std::move(part));
    }
    nodes_ = ranks_;
    for (Part& part : parts_) {
        part.rows = ranks_ / part.spec.ports;
        part.row_links = static_cast<std::uint32_t>(part.spec.wiring->links());
        part.row_switches = part.spec.wiring->switches();
        part.lane_size = part.spec.wiring->lane_size();
        part.first_link = static_cast<std::uint32_t>(links_);
        part.first_switch = nodes_;
        links_ += std::uint64_t{part.row_links} * part.rows;
        nodes_ += part.row_switches * part.rows;
    }
    coordinates_.reserve(std::size_t{ranks_} * parts_.size());
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        for (const Part& part : parts_) {
            coordinates_.push_back(rank / part.stride % part.spec.ports);
        }
    }
}

std::uint32_t Topology::dimension_of_switch(std::uint32_t node) const {
    std::uint32_t k = dimensions() - 1;
    while (k > 0 && parts_[k].first_switch > node) {
        --k;
    }
    return k;
}

std::uint32_t Topology::row_of(std::uint32_t rank, std::uint32_t dimension) const {
    const Part& part = parts_[dimension];
    return rank / (part.stride * part.spec.ports) * part.stride + rank % part.stride;
}

std::uint32_t Topology::node_in_row(std::uint32_t dimension,
                                    std::uint32_t row,
                                    std::uint32_t local_node) const {
    const Part& part = parts_[dimension];
    if (local_node >= part.spec.ports) {
        return part.first_switch + row * part.row_switches + (local_node - part.spec.ports);
    }
    return row / part.stride * (part.stride * part.spec.ports) + local_node * part.stride +
           row % part.stride;
}

Hop Topology::hop_in(std::uint32_t dimension,
                     std::uint32_t row,
                     std::uint32_t node,
                     std::uint32_t destination) const {
    const Part& part = parts_[dimension];
    const LinkRun run = part.spec.wiring->next_run(node, coordinate(destination, dimension));
    const std::uint32_t row_begin = part.first_link + row * part.row_links;
    Hop hop;
    hop.first = row_begin + run.first;
    hop.count = run.count;
    hop.dimension = dimension;
    const std::uint32_t place = run.first % part.lane_size;
    hop.lane = hop.first - place;
    const std::uint32_t last = link_of(hop, run.count - 1) - row_begin;
    hop.end = node_in_row(dimension, row, part.spec.wiring->ends(last).to);
    return hop;
}

Hop Topology::next_hop(std::uint32_t node, std::uint32_t destination) const {
    if (node < ranks_) {
        for (std::uint32_t k = 0; k < parts_.size(); ++k) {
            const std::uint32_t here = coordinate(node, k);
            if (here != coordinate(destination, k)) {
                return hop_in(k, row_of(node, k), here, destination);
            }
        }
    }
    const std::uint32_t k = dimension_of_switch(node);
    const Part& part = parts_[k];
    ASTRA_CHECK(node >= part.first_switch && part.row_switches > 0, "no hop from this node");
    const std::uint32_t offset = node - part.first_switch;
    return hop_in(
        k, offset / part.row_switches, part.spec.ports + offset % part.row_switches, destination);
}

std::uint32_t Topology::dimension_of(std::uint32_t link) const {
    std::uint32_t k = dimensions() - 1;
    while (k > 0 && parts_[k].first_link > link) {
        --k;
    }
    return k;
}

LinkEnds Topology::link_ends(std::uint32_t link) const {
    const std::uint32_t k = dimension_of(link);
    const Part& part = parts_[k];
    const std::uint32_t row = (link - part.first_link) / part.row_links;
    const LinkEnds local = part.spec.wiring->ends((link - part.first_link) % part.row_links);
    return {node_in_row(k, row, local.from), node_in_row(k, row, local.to)};
}

std::string Topology::node_name(std::uint32_t node) const {
    if (node < ranks_) {
        return std::to_string(node);
    }
    const std::uint32_t k = dimension_of_switch(node);
    return fmt::format("switch{}.{}", k, node - parts_[k].first_switch);
}

std::string Topology::describe() const {
    std::string text;
    for (const Part& part : parts_) {
        text += fmt::format("{}{} of {} ({}, {} a link)",
                            text.empty() ? "" : " x ",
                            part.spec.kind,
                            part.spec.ports,
                            part.spec.bandwidth_text.empty() ? to_text(part.spec.bandwidth)
                                                             : part.spec.bandwidth_text,
                            to_text(part.spec.latency));
    }
    return text;
}

}  // namespace astra
