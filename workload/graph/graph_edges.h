// Dependencies of a graph whose ops are in order.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/graph/execution_graph.h"
#include "workload/graph/parent_list.h"

namespace astra {

struct EdgeReport {
    std::uint64_t dropped = 0;                 // dependencies on nodes that are not there
    std::vector<std::uint64_t> first_dropped;  // ids of the first ten of them
    bool forward_only = true;                  // every parent comes before its child: no cycle
    bool too_many = false;                     // more dependencies than can be numbered
};

// Fills parent_count, child_begin and child. On entry parent_count is what ParentList::add
// returned. Node `i` of the list is op new_index[i], or op i if new_index is empty.
EdgeReport link_parents(ExecutionGraph& graph,
                        ParentList parents,
                        const std::vector<std::uint32_t>& new_index);

struct Edge {
    std::uint32_t parent = 0;
    std::uint32_t child = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    auto operator<=>(const Edge&) const = default;
};
// Ascending.
std::vector<Edge> edges_of(const ExecutionGraph& graph);
// Puts `child` of each op, and what follows from it, into `graph`. In any order, none twice.
void set_edges(ExecutionGraph& graph, std::vector<Edge> edges);
bool has_edge(const ExecutionGraph& graph, Edge edge);  // O(log children)

// The ops of one cycle in the order of their edges; empty if there is none.
std::vector<std::uint32_t> find_cycle(const ExecutionGraph& graph);

}  // namespace astra
