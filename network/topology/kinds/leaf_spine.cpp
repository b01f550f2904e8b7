// Two tiers of switches: every host on a leaf, every leaf on all spines, in one or more planes.
#include <algorithm>

#include "network/topology/fabric.h"

namespace astra {

namespace {

constexpr std::uint32_t kHostsPerLeaf = 8;
constexpr std::uint32_t kMostNics = 1024;

struct LeafSpine {
    std::uint32_t hosts = 0;
    std::uint32_t hosts_per_leaf = 0;
    std::uint32_t spines = 0;
    std::uint32_t links_per_spine = 0;
    LinkProperties host_link;
    LinkProperties uplink;
};

void add_plane(FabricBuilder& fabric,
               const LeafSpine& plane,
               const std::string& prefix,
               std::uint32_t nics) {
    const std::uint32_t leaves = (plane.hosts + plane.hosts_per_leaf - 1) / plane.hosts_per_leaf;
    const std::uint32_t leaf = fabric.add_switches(prefix + "leaf", leaves);
    const std::uint32_t spine = fabric.add_switches(prefix + "spine", plane.spines);
    for (std::uint32_t host = 0; host < plane.hosts; ++host) {
        for (std::uint32_t nic = 0; nic < nics; ++nic) {
            fabric.connect(host, leaf + host / plane.hosts_per_leaf, plane.host_link);
        }
    }
    for (std::uint32_t l = 0; l < leaves; ++l) {
        for (std::uint32_t s = 0; s < plane.spines; ++s) {
            for (std::uint32_t i = 0; i < plane.links_per_spine; ++i) {
                fabric.connect(leaf + l, spine + s, plane.uplink);
            }
        }
    }
}

std::unique_ptr<const Dimension> build(const DimensionKeys& keys) {
    const ConfigView& view = keys.view;
    LeafSpine plane;
    plane.hosts = keys.ports;
    plane.hosts_per_leaf = static_cast<std::uint32_t>(
        view.integer_or("hosts_per_leaf", std::min(keys.ports, kHostsPerLeaf), 1, kMostRanks));
    const auto planes = static_cast<std::uint32_t>(view.integer_or("planes", 1, 1, kMostNics));
    const auto nics = static_cast<std::uint32_t>(view.integer_or("nics", planes, 1, kMostNics));
    if (nics % planes != 0) {
        view.at("nics").fail("each plane has the same number of them: expected a multiple of " +
                             std::to_string(planes) + ", the planes");
    }
    plane.links_per_spine =
        static_cast<std::uint32_t>(view.integer_or("links_per_spine", 1, 1, kMostNics));
    plane.host_link = keys.link;
    plane.uplink = read_tier(view, "uplink", keys.link);
    LinkProperties bundle = plane.uplink;
    bundle.bandwidth.bits_per_s =
        saturating_multiply(bundle.bandwidth.bits_per_s, plane.links_per_spine);
    plane.spines =
        read_uplinks(view, "spines", plane.hosts_per_leaf * (nics / planes), keys.link, bundle);

    FabricBuilder fabric(keys.ports, view);
    const std::uint64_t leaves = (keys.ports - 1) / plane.hosts_per_leaf + std::uint64_t{1};
    fabric.expect_links(saturating_add(
        saturating_multiply(keys.ports, nics),
        saturating_multiply(saturating_multiply(leaves, planes),
                            saturating_multiply(plane.spines, plane.links_per_spine))));
    fabric.set_switch_delay(view.duration_or("switch_latency", {}));
    for (std::uint32_t p = 0; p < planes; ++p) {
        add_plane(
            fabric, plane, planes == 1 ? "" : "plane" + std::to_string(p) + ".", nics / planes);
    }
    return fabric.build();
}

}  // namespace

extern const DimensionInfo kLeafSpineDimension;
const DimensionInfo kLeafSpineDimension = {
    .name = "leaf_spine",
    .summary = "hosts on leaves, each leaf on every spine; planes, NICs, oversubscription",
    .build = build};

}  // namespace astra
