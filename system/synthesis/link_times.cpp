#include "system/synthesis/link_times.h"

#include <algorithm>

namespace astra {

LinkTimes::LinkTimes(const GroupGraph& graph, Bytes block)
    : graph_(graph), free_ps_(graph.links(), 0) {
    for (std::uint32_t link = 0; link < graph.links(); ++link) {
        const LinkProperties& properties = graph.properties(link);
        const auto wire = transfer_time(block, properties.bandwidth);
        wire_ps_.push_back(std::clamp<std::uint64_t>(wire.ps, 1, 16 * kLongestPs));
        passing_ps_.push_back(wire_ps_.back() + std::min(properties.latency.ps, kLongestPs));
    }
    for (const GroupGraph::Edge& edge : graph.edges()) {
        std::uint64_t passage_ps = 0;
        for (const std::uint32_t link : graph.path(edge)) {
            passage_ps = passage_ps + passing_ps_[link];
        }
        edge_ps_.push_back(passage_ps);
    }
}

std::uint64_t LinkTimes::send_ps(const GroupGraph::Edge& edge, std::uint64_t now_ps) {
    std::uint64_t at_ps = now_ps;
    for (const std::uint32_t link : graph_.path(edge)) {
        free_ps_[link] = at_ps + wire_ps_[link];
        at_ps = at_ps + passing_ps_[link];
    }
    return at_ps;
}

}  // namespace astra
