#include "network/routing/graphviz.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "astra/config/units.h"

namespace astra {

namespace {

struct Bundle {
    std::uint32_t upwards = 0;    // links from the lower node number to the higher
    std::uint32_t downwards = 0;  // in the other direction
};

// (lower node, higher node, class, down)
using BundleKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool>;

std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char c : name) {
        if (c == '"' || c == '\\') {
            text += '\\';
        }
        text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return text + "\"";
}

std::map<BundleKey, Bundle> bundles_of(const Routing& routing) {
    const Topology& topology = routing.topology();
    std::map<BundleKey, Bundle> bundles;
    for (std::uint32_t link = 0; link < topology.links(); ++link) {
        const LinkEnds ends = topology.link_ends(link);
        Bundle& bundle = bundles[{std::min(ends.from, ends.to),
                                  std::max(ends.from, ends.to),
                                  topology.link_class(link),
                                  !routing.is_up(link)}];
        ++(ends.from < ends.to ? bundle.upwards : bundle.downwards);
    }
    return bundles;
}

std::string edge(std::uint32_t from,
                 std::uint32_t to,
                 const char* direction,
                 std::uint32_t count,
                 const LinkProperties& link,
                 bool down) {
    if (count == 0) {
        return "";
    }
    return fmt::format("  n{} -> n{} [dir={}, label=\"{}{}, {}\"{}];\n",
                       from,
                       to,
                       direction,
                       count == 1 ? "" : fmt::format("{} x ", count),
                       to_text(link.bandwidth),
                       to_text(link.latency),
                       down ? ", style=dashed" : "");
}

}  // namespace

std::string graphviz(const Routing& routing) {
    const Topology& topology = routing.topology();
    std::string text = "digraph fabric {\n";
    for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
        text += fmt::format("  n{} [shape={}, label={}];\n",
                            node,
                            node < topology.ranks() ? "box" : "ellipse",
                            quoted(topology.node_name(node)));
    }
    for (const auto& [key, bundle] : bundles_of(routing)) {
        const auto& [low, high, link_class, down] = key;
        const LinkProperties link = topology.classes()[link_class];
        const std::uint32_t both = std::min(bundle.upwards, bundle.downwards);
        text += edge(low, high, "both", both, link, down);
        text += edge(low, high, "forward", bundle.upwards - both, link, down);
        text += edge(high, low, "forward", bundle.downwards - both, link, down);
    }
    return text + "}\n";
}

}  // namespace astra
