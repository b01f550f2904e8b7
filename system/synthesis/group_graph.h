// Which members of a group reach each other directly: over links on which no other member lies.
// Messages between such members, and only these, are what a synthesised program is made of.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "network/routing/routing.h"

namespace astra {

class GroupGraph {
  public:
    struct Edge {
        std::uint32_t from = 0;  // member
        std::uint32_t to = 0;
        std::uint32_t first = 0;  // of its links, as path() gives them
        std::uint32_t count = 0;
    };

    // The path of a pair is the one that `routing` gives its messages; where it would split them,
    // the one that a hash picks. Members are positions in `ranks`, which does not repeat any.
    // Throws SimulationError when a pair has no path. Time: members² · links of a path; memory: the
    // edges and their paths.
    GroupGraph(Routing& routing, std::span<const std::uint32_t> ranks);

    std::uint32_t members() const { return members_; }
    // Sorted by `from`, then by the first link, then by the distance (to - from) mod members.
    std::span<const Edge> edges() const { return edges_; }
    // Dense numbers of links, 0 … links()-1, from `from` to `to`.
    std::span<const std::uint32_t> path(const Edge& edge) const {
        return {path_.data() + edge.first, edge.count};
    }
    std::uint32_t links() const { return static_cast<std::uint32_t>(links_.size()); }
    const LinkProperties& properties(std::uint32_t link) const { return properties_[link]; }
    // Its number in the topology.
    std::uint32_t link_of_topology(std::uint32_t link) const { return links_[link]; }

    // Every edge in the reverse direction over the same links: the graph on which an all_gather,
    // played backwards, is a reduce_scatter on this one.
    GroupGraph reversed() const;

  private:
    GroupGraph() = default;
    void add_path(Routing& routing,
                  std::span<const std::uint32_t> ranks,
                  std::span<const std::uint32_t> member_of,
                  std::uint32_t from,
                  std::uint32_t to);
    void sort_edges();

    std::uint32_t members_ = 0;
    std::vector<Edge> edges_;
    std::vector<std::uint32_t> path_;
    std::vector<std::uint32_t> links_;
    std::vector<LinkProperties> properties_;
};

}  // namespace astra
