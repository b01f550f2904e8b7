// Shortest paths (the least sum of weights; fewest links where all weigh the same) through a graph
// of nodes and directed links, as the set of links by which each node can go on. One table a
// destination, made when first needed; ports that hang on one switch share the table of that
// switch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "network/topology/dimension.h"

namespace astra {

class ShortestPaths {
  public:
    // Nodes 0 … ports-1 are the destinations. A node that does not forward is only a path's end.
    // Links that are not `up` are no part of the graph.
    struct Graph {
        std::uint32_t ports = 0;
        std::vector<bool> forwards;  // a node
        std::vector<LinkEnds> links;
        std::vector<std::uint32_t> weights;  // a link; 1 or more; empty: 1 each
        std::vector<bool> up;                // a link; empty: all

        void add(LinkEnds ends, std::uint32_t weight);
    };
    explicit ShortestPaths(Graph graph);
    ~ShortestPaths();
    ShortestPaths(const ShortestPaths&) = delete;
    ShortestPaths& operator=(const ShortestPaths&) = delete;

    // The links of `node` on a shortest path to `port`, which is not that node; ascending. Empty
    // where there is no path; but a node with one link that does not forward gives that link,
    // wherever it leads. Valid until the next call.
    std::span<const std::uint32_t> next(std::uint32_t node, std::uint32_t port);

    // The sum of weights on a shortest path from every node to `port`; kFar where there is none.
    static constexpr std::uint32_t kFar = 0xffffffffU;
    std::vector<std::uint32_t> distances_to(std::uint32_t port) const;

    // Pairs of ports without a path, at most `most` of them. O(links) where all is connected.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> cut_pairs(std::size_t most) const;

  private:
    struct Reversed;  // the Boost graph
    struct Range {
        std::uint32_t begin = 0;
        std::uint32_t count = 0;
    };
    std::uint32_t weight(std::uint32_t link) const {
        return graph_.weights.empty() ? 1 : graph_.weights[link];
    }
    std::vector<std::uint32_t> weighted_distances_to(std::uint32_t port) const;
    bool is_up(std::uint32_t link) const { return graph_.up.empty() || graph_.up[link]; }
    void index_links();
    void find_exits();
    void make_table(std::uint32_t target);
    bool one_component_joins_all() const;

    static constexpr std::uint32_t kNone = 0xffffffffU;
    Graph graph_;
    std::unique_ptr<const Reversed> reversed_;
    std::vector<std::uint32_t> out_begin_;  // CSR: the links of each node
    std::vector<std::uint32_t> out_links_;
    std::vector<std::uint32_t> in_begin_;  // the links into each node, where links have weights
    std::vector<std::uint32_t> in_links_;
    std::vector<std::uint32_t> exit_;       // a port: the node whose table it uses
    std::vector<std::uint32_t> last_link_;  // a port: from that node to it, if they differ
    std::vector<std::uint32_t>
        row_;  // a node: its row in the tables; kNone: has one link and does not forward
    std::uint32_t rows_ = 0;
    std::vector<std::vector<Range>> tables_;  // a node as target
    std::vector<Range> latest_;  // a row: its newest set, most often that of the next too
    std::vector<std::uint32_t> sets_;
};

// Of the ports, switches and links of a dimension.
ShortestPaths::Graph graph_of(const Dimension& dimension);

}  // namespace astra
