// Dragonfly (Kim et al., ISCA 2008): routers of a group all joined, groups all joined by global
// links. With a routers a group and h global links a router there are at most a·h + 1 groups.
#include <algorithm>

#include <fmt/format.h>

#include "network/topology/fabric.h"

namespace astra {

namespace {

struct Sizes {
    std::uint32_t hosts = 0;         // a router (p)
    std::uint32_t routers = 0;       // a group (a)
    std::uint32_t global_links = 0;  // a router (h)
    std::uint32_t groups = 0;
};

// The smallest balanced dragonfly, a = 2p = 2h, that holds them all.
std::uint32_t balanced(std::uint32_t ranks) {
    std::uint64_t h = 1;
    while (h * 2 * h * (2 * h * h + 1) < ranks) {
        ++h;
    }
    return static_cast<std::uint32_t>(h);
}

Sizes read_sizes(const DimensionKeys& keys) {
    const ConfigView& view = keys.view;
    const std::uint32_t h = balanced(keys.ports);
    Sizes sizes;
    sizes.hosts = static_cast<std::uint32_t>(view.integer_or("hosts_per_router", h, 1, kMostRanks));
    sizes.routers = static_cast<std::uint32_t>(
        view.integer_or("routers_per_group", std::uint64_t{2} * h, 1, 1U << 16));
    sizes.global_links =
        static_cast<std::uint32_t>(view.integer_or("global_links_per_router", h, 1, 1U << 16));
    const std::uint64_t in_group = std::uint64_t{sizes.hosts} * sizes.routers;
    sizes.groups = static_cast<std::uint32_t>((keys.ports + in_group - 1) / in_group);
    const std::uint64_t most = std::uint64_t{sizes.routers} * sizes.global_links + 1;
    if (sizes.groups > most) {
        view.fail(
            fmt::format("{} ranks make {} groups of {}; {} global links a group join at most {}",
                        keys.ports,
                        sizes.groups,
                        in_group,
                        most - 1,
                        most));
    }
    return sizes;
}

// Global port k of a group leads to the group k + 1 further on; with fewer groups than ports the
// pattern repeats, so that two groups have several links.
void connect_groups(FabricBuilder& fabric,
                    const Sizes& sizes,
                    std::uint32_t router,
                    LinkProperties link) {
    if (sizes.groups == 1) {
        return;
    }
    const std::uint32_t others = sizes.groups - 1;
    const std::uint32_t repeats = sizes.routers * sizes.global_links / others;
    const auto router_of = [&](std::uint32_t group, std::uint32_t port) {
        return router + group * sizes.routers + port / sizes.global_links;
    };
    for (std::uint32_t group = 0; group < sizes.groups; ++group) {
        for (std::uint32_t other = group + 1; other < sizes.groups; ++other) {
            for (std::uint32_t i = 0; i < repeats; ++i) {
                const std::uint32_t there = other - group - 1 + i * others;
                const std::uint32_t back = sizes.groups - (other - group) - 1 + i * others;
                fabric.connect(router_of(group, there), router_of(other, back), link);
            }
        }
    }
}

std::unique_ptr<const Dimension> build(const DimensionKeys& keys) {
    const ConfigView& view = keys.view;
    const Sizes sizes = read_sizes(keys);
    const LinkProperties local = read_tier(view, "local", keys.link);
    const LinkProperties global = read_tier(view, "global", keys.link);
    FabricBuilder fabric(keys.ports, view);
    const std::uint64_t routers = sizes.routers;
    fabric.expect_links(
        saturating_add(keys.ports, saturating_multiply(sizes.groups, routers * (routers - 1) / 2)));
    fabric.set_switch_delay(view.duration_or("switch_latency", {}));
    const std::uint32_t router = fabric.add_switches("router", sizes.groups * sizes.routers);
    for (std::uint32_t host = 0; host < keys.ports; ++host) {
        fabric.connect(host, router + host / sizes.hosts, keys.link);
    }
    for (std::uint32_t group = 0; group < sizes.groups; ++group) {
        for (std::uint32_t i = 0; i < sizes.routers; ++i) {
            for (std::uint32_t j = i + 1; j < sizes.routers; ++j) {
                fabric.connect(
                    router + group * sizes.routers + i, router + group * sizes.routers + j, local);
            }
        }
    }
    connect_groups(fabric, sizes, router, global);
    return fabric.build();
}

}  // namespace

extern const DimensionInfo kDragonflyDimension;
const DimensionInfo kDragonflyDimension = {
    .name = "dragonfly",
    .summary = "groups of fully joined routers, global links between all groups",
    .build = build};

}  // namespace astra
