// Three tiers of switches: pods of leaves and aggregations, joined by cores. Aggregation j of every
// pod is on the same cores (Al-Fares et al., SIGCOMM 2008), so that a pod has one path down.
#include <algorithm>

#include "network/topology/fabric.h"

namespace astra {

namespace {

constexpr std::uint32_t kHostsPerLeaf = 8;
constexpr std::uint32_t kLeavesPerPod = 8;

std::unique_ptr<const Dimension> build(const DimensionKeys& keys) {
    const ConfigView& view = keys.view;
    const std::uint32_t hosts = keys.ports;
    const auto per_leaf = static_cast<std::uint32_t>(
        view.integer_or("hosts_per_leaf", std::min(hosts, kHostsPerLeaf), 1, kMostRanks));
    const std::uint32_t leaves = (hosts + per_leaf - 1) / per_leaf;
    const auto per_pod = static_cast<std::uint32_t>(
        view.integer_or("leaves_per_pod", std::min(leaves, kLeavesPerPod), 1, kMostRanks));
    const std::uint32_t pods = (leaves + per_pod - 1) / per_pod;
    const LinkProperties uplink = read_tier(view, "uplink", keys.link);
    const LinkProperties core_link = read_tier(view, "core", uplink);
    const std::uint32_t aggregations =
        read_uplinks(view, "aggregations_per_pod", per_leaf, keys.link, uplink);
    const std::uint32_t cores_each =
        read_uplinks(view, "cores_per_aggregation", per_pod, uplink, core_link);

    FabricBuilder fabric(hosts, view);
    fabric.expect_links(
        saturating_add(saturating_add(hosts, saturating_multiply(leaves, aggregations)),
                       saturating_multiply(pods, saturating_multiply(aggregations, cores_each))));
    fabric.set_switch_delay(view.duration_or("switch_latency", {}));
    const std::uint32_t leaf = fabric.add_switches("leaf", leaves);
    const std::uint32_t aggregation = fabric.add_switches("aggregation", pods * aggregations);
    const std::uint32_t core = fabric.add_switches("core", aggregations * cores_each);
    for (std::uint32_t host = 0; host < hosts; ++host) {
        fabric.connect(host, leaf + host / per_leaf, keys.link);
    }
    for (std::uint32_t l = 0; l < leaves; ++l) {
        for (std::uint32_t j = 0; j < aggregations; ++j) {
            fabric.connect(leaf + l, aggregation + l / per_pod * aggregations + j, uplink);
        }
    }
    for (std::uint32_t pod = 0; pod < pods; ++pod) {
        for (std::uint32_t j = 0; j < aggregations; ++j) {
            for (std::uint32_t c = 0; c < cores_each; ++c) {
                fabric.connect(
                    aggregation + pod * aggregations + j, core + j * cores_each + c, core_link);
            }
        }
    }
    return fabric.build();
}

}  // namespace

extern const DimensionInfo kFatTreeDimension;
const DimensionInfo kFatTreeDimension = {
    .name = "fat_tree",
    .summary = "three tiers: leaves and aggregations in pods, cores between pods",
    .build = build};

}  // namespace astra
