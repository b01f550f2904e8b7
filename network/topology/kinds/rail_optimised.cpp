// Nodes of several GPUs on a scale-up switch; GPU i of every node on a leaf of rail i, and spines
// between the leaves of all rails.
#include <algorithm>

#include "network/topology/fabric.h"

namespace astra {

namespace {

constexpr std::uint32_t kDomain = 8;
constexpr std::uint32_t kNodesPerLeaf = 32;

std::uint32_t read_domain(const DimensionKeys& keys) {
    const std::uint32_t usual = keys.ports % kDomain == 0 ? kDomain : keys.ports;
    const auto domain =
        static_cast<std::uint32_t>(keys.view.integer_or("domain", usual, 1, kMostRanks));
    if (keys.ports % domain != 0) {
        keys.view.at("domain").fail("the ranks of a node: expected a divisor of " +
                                    std::to_string(keys.ports));
    }
    return domain;
}

// 0 is allowed where it is written: a network of rails alone.
std::uint32_t read_spines(const DimensionKeys& keys,
                          std::uint32_t nodes_per_leaf,
                          LinkProperties uplink) {
    const auto written = keys.view.find("spines");
    if (written && written->as_integer(0, kMostRanks) == 0) {
        return 0;
    }
    return read_uplinks(keys.view, "spines", nodes_per_leaf, keys.link, uplink);
}

std::unique_ptr<const Dimension> build(const DimensionKeys& keys) {
    const ConfigView& view = keys.view;
    const std::uint32_t domain = read_domain(keys);
    const std::uint32_t nodes = keys.ports / domain;
    const auto nodes_per_leaf = static_cast<std::uint32_t>(
        view.integer_or("nodes_per_leaf", std::min(nodes, kNodesPerLeaf), 1, kMostRanks));
    const std::uint32_t leaves = (nodes + nodes_per_leaf - 1) / nodes_per_leaf;
    const LinkProperties scale_up = read_tier(view, "domain", keys.link);
    const LinkProperties uplink = read_tier(view, "uplink", keys.link);
    const std::uint32_t spines = read_spines(keys, nodes_per_leaf, uplink);

    FabricBuilder fabric(keys.ports, view);
    fabric.expect_links(
        saturating_add(2 * std::uint64_t{keys.ports},
                       saturating_multiply(domain, saturating_multiply(leaves, spines))));
    fabric.set_switch_delay(view.duration_or("switch_latency", {}));
    fabric.set_ports_forward(view.bool_or("forward", spines == 0));
    fabric.set_shape({domain, nodes});
    if (domain > 1) {
        const std::uint32_t node_switch = fabric.add_switches("node", nodes);
        for (std::uint32_t rank = 0; rank < keys.ports; ++rank) {
            fabric.connect(rank, node_switch + rank / domain, scale_up);
        }
    }
    if (nodes == 1) {
        return fabric.build();
    }
    const std::uint32_t spine = fabric.add_switches("spine", spines);
    for (std::uint32_t rail = 0; rail < domain; ++rail) {
        const std::uint32_t leaf =
            fabric.add_switches("rail" + std::to_string(rail) + ".leaf", leaves);
        for (std::uint32_t node = 0; node < nodes; ++node) {
            fabric.connect(node * domain + rail, leaf + node / nodes_per_leaf, keys.link);
        }
        for (std::uint32_t l = 0; l < leaves; ++l) {
            for (std::uint32_t s = 0; s < spines; ++s) {
                fabric.connect(leaf + l, spine + s, uplink);
            }
        }
    }
    return fabric.build();
}

}  // namespace

extern const DimensionInfo kRailOptimisedDimension;
const DimensionInfo kRailOptimisedDimension = {
    .name = "rail_optimised",
    .summary = "scale-up nodes, a leaf a rail (local rank), spines between rails",
    .build = build};

}  // namespace astra
