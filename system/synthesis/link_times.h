// When links are free for a block, as the backend congestion_aware has it: a block occupies each
// link of its path in turn, for the time of a block, after the latency of the one before.
#pragma once

#include <cstdint>
#include <vector>

#include "system/synthesis/group_graph.h"

namespace astra {

// No time of a plan passes what 64 bits hold: a block is planned no larger than the slowest link
// moves in this time, beside which latencies are nothing, and these are planned no longer.
inline constexpr std::uint64_t kLongestPs = std::uint64_t{1} << 36U;

class LinkTimes {
  public:
    // `block`: its size. The graph outlives it.
    LinkTimes(const GroupGraph& graph, Bytes block);

    // A block on a link, and with the latency.
    std::uint64_t wire_ps(std::uint32_t link) const { return wire_ps_[link]; }
    std::uint64_t passing_ps(std::uint32_t link) const { return passing_ps_[link]; }
    // How long a block is on its path over each edge.
    const std::vector<std::uint64_t>& edge_ps() const { return edge_ps_; }
    // From when on the first link of an edge is free.
    std::uint64_t free_ps(const GroupGraph::Edge& edge) const {
        return free_ps_[graph_.path(edge)[0]];
    }

    // When a block can start so that it finds every link of the path free.
    std::uint64_t earliest_ps(const GroupGraph::Edge& edge, std::uint64_t now_ps) const {
        std::uint64_t start_ps = now_ps;
        std::uint64_t passage_ps = 0;
        for (const std::uint32_t link : graph_.path(edge)) {
            if (free_ps_[link] > start_ps + passage_ps) {
                start_ps = free_ps_[link] - passage_ps;
            }
            passage_ps = passage_ps + passing_ps_[link];
        }
        return start_ps;
    }

    // A block starts now: occupies the links. When it has arrived.
    std::uint64_t send_ps(const GroupGraph::Edge& edge, std::uint64_t now_ps);

  private:
    const GroupGraph& graph_;
    std::vector<std::uint64_t> wire_ps_;     // by link
    std::vector<std::uint64_t> passing_ps_;  // by link
    std::vector<std::uint64_t> edge_ps_;     // by edge
    std::vector<std::uint64_t> free_ps_;     // by link
};

}  // namespace astra
