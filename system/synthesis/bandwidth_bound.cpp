#include "system/synthesis/bandwidth_bound.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "system/synthesis/reach.h"

namespace astra {

namespace {

// 128 bits hold bytes · members · 8 · 10^12.
using Wide = unsigned __int128;

// How long a block of this size is on its path decides what a fast link is.
constexpr Bytes kBlock{1U << 30U};

std::uint64_t time_of(Wide bytes, Wide bits_per_s) {
    const Wide ps = bits_per_s == 0 ? 0 : bytes * 8'000'000'000'000U / bits_per_s;
    return ps > kMaxPs ? kMaxPs : static_cast<std::uint64_t>(ps);
}

class PartitionBound {
  public:
    PartitionBound(const GroupGraph& graph, std::vector<std::uint32_t> part_of)
        : graph_(graph), part_of_(std::move(part_of)) {
        const std::size_t parts = 1 + *std::max_element(part_of_.begin(), part_of_.end());
        members_.resize(parts);
        in_.resize(parts);
        out_.resize(parts);
        for (const std::uint32_t part : part_of_) {
            ++members_[part];
        }
        add_links(true);
        add_links(false);
    }

    std::uint64_t time_ps(CollectiveKind kind, Bytes size) const {
        const Wide whole = size.count;
        const std::uint32_t members = graph_.members();
        const bool all_reduce = kind == CollectiveKind::AllReduce;
        const bool gathers = kind == CollectiveKind::AllGather;
        std::uint64_t bound_ps = 0;
        for (std::size_t part = 0; part < members_.size(); ++part) {
            const Wide inside = all_reduce ? whole : whole * members_[part] / members;
            const Wide outside = all_reduce ? whole : whole - inside;
            bound_ps = std::max({bound_ps,
                                 time_of(gathers ? outside : inside, in_[part]),
                                 time_of(gathers ? inside : outside, out_[part])});
        }
        if (all_reduce) {
            const Wide moved = 2 * whole * (members_.size() - 1);
            bound_ps =
                std::max({bound_ps,
                          time_of(moved, std::accumulate(in_.begin(), in_.end(), Wide{0})),
                          time_of(moved, std::accumulate(out_.begin(), out_.end(), Wide{0}))});
        }
        return bound_ps;
    }

  private:
    // Each link at a member counts once, however many edges begin or end with it.
    void add_links(bool incoming) {
        std::vector<bool> seen(graph_.links());
        for (const GroupGraph::Edge& edge : graph_.edges()) {
            const auto path = graph_.path(edge);
            const std::uint32_t link = incoming ? path.back() : path.front();
            if (part_of_[edge.from] != part_of_[edge.to] && !seen[link]) {
                seen[link] = true;
                (incoming ? in_[part_of_[edge.to]] : out_[part_of_[edge.from]]) +=
                    graph_.properties(link).bandwidth.bits_per_s;
            }
        }
    }

    const GroupGraph& graph_;
    std::vector<std::uint32_t> part_of_;  // a member
    std::vector<std::uint32_t> members_;  // a part
    std::vector<Wide> in_;
    std::vector<Wide> out_;
};

}  // namespace

Duration bandwidth_bound(const GroupGraph& graph, CollectiveKind kind, Bytes size) {
    std::vector<std::uint64_t> edge_ps;
    for (const GroupGraph::Edge& edge : graph.edges()) {
        std::uint64_t way_ps = 0;
        for (const std::uint32_t link : graph.path(edge)) {
            way_ps =
                saturating_add(way_ps, transfer_time(kBlock, graph.properties(link).bandwidth).ps);
        }
        edge_ps.push_back(way_ps);
    }
    std::vector<std::uint32_t> parts(graph.members());
    std::iota(parts.begin(), parts.end(), 0U);
    std::uint64_t bound_ps = PartitionBound(graph, parts).time_ps(kind, size);
    const Reach reach(graph, edge_ps, 0);
    for (std::uint32_t level = 1; level < reach.levels(); ++level) {
        for (std::uint32_t member = 0; member < graph.members(); ++member) {
            parts[member] = reach.domain(member, level);
        }
        bound_ps = std::max(bound_ps, PartitionBound(graph, parts).time_ps(kind, size));
    }
    return {bound_ps};
}

}  // namespace astra
