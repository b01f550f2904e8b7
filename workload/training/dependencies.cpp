#include "workload/training/dependencies.h"

#include <algorithm>

#include "astra/core/check.h"

namespace astra {

Dependencies::Dependencies(const ExecutionGraph& graph) : graph_(graph) {
    const std::uint32_t size = graph.size();
    begin_.assign(size + 1, 0);
    for (std::uint32_t op = 0; op < size; ++op) {
        begin_[op + 1] = begin_[op] + graph.parent_count[op];
    }
    parent_.resize(graph.child.size());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (std::uint32_t op = 0; op < size; ++op) {
        for (const std::uint32_t child : children(op)) {
            parent_[next[child]++] = op;
        }
    }
    sorted_.reserve(size);
    std::vector<std::uint32_t> left = graph.parent_count;
    for (std::uint32_t op = 0; op < size; ++op) {
        if (left[op] == 0) {
            sorted_.push_back(op);
        }
    }
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
        for (const std::uint32_t child : children(sorted_[i])) {
            if (--left[child] == 0) {
                sorted_.push_back(child);
            }
        }
    }
    ASTRA_CHECK(sorted_.size() == size, "a graph that was read has no cycle");
}

void set_edges(ExecutionGraph& graph, std::vector<Edge> edges) {
    if (!std::is_sorted(edges.begin(), edges.end())) {
        std::sort(edges.begin(), edges.end());
    }
    graph.parent_count.assign(graph.size(), 0);
    graph.child_begin.assign(graph.size() + 1, 0);
    graph.child.clear();
    graph.child.reserve(edges.size());
    for (const Edge& edge : edges) {
        ++graph.child_begin[edge.parent + 1];
        ++graph.parent_count[edge.child];
        graph.child.push_back(edge.child);
    }
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        graph.child_begin[op + 1] += graph.child_begin[op];
    }
}

std::vector<Edge> edges_of(const ExecutionGraph& graph) {
    std::vector<Edge> edges;
    edges.reserve(graph.child.size());
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        for (std::uint32_t i = graph.child_begin[op]; i < graph.child_begin[op + 1]; ++i) {
            edges.push_back({op, graph.child[i]});
        }
    }
    return edges;
}

}  // namespace astra
