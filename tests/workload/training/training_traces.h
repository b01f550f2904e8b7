// Short training traces, written by hand.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/workload/trace_maker.h"
#include "workload/graph/graph_edges.h"
#include "workload/training/training.h"

namespace astra::test {

inline constexpr std::uint64_t kMs = 1'000'000'000;

inline std::string computation(std::uint64_t id,
                               std::string_view name,
                               std::uint64_t ms,
                               const std::vector<std::uint64_t>& parents = {}) {
    return node(id, name, Comp, parents, number_field(7, ms * 1000));
}

// An update, or anything else that takes no time.
inline std::string instant(std::uint64_t id,
                           std::string_view name,
                           const std::vector<std::uint64_t>& parents = {}) {
    return node(id, name, Comp, parents, int64_attribute("num_ops", 0));
}

inline std::string reduction(std::uint64_t id,
                             std::string_view name,
                             std::int64_t bytes,
                             const std::vector<std::uint64_t>& parents = {},
                             std::int64_t type = 0) {
    return node(id,
                name,
                Coll,
                parents,
                int64_attribute("comm_type", type) + int64_attribute("comm_size", bytes));
}

// The same trace on every rank.
inline Workload same_trace(const std::string& nodes, std::uint32_t ranks = 2) {
    const Folder folder;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        folder.write("t." + std::to_string(rank) + ".et", metadata("0.0.4") + nodes);
    }
    Warnings warnings;
    return load(folder, ranks, warnings);
}

inline std::string name_of(const ExecutionGraph& graph, std::uint32_t op) {
    return std::string(graph.name_of(OpId{op}));
}

// "parent > child" for each edge, in order.
inline std::vector<std::string> edges_by_name(const ExecutionGraph& graph) {
    std::vector<std::string> edges;
    for (const Edge& edge : edges_of(graph)) {
        edges.push_back(name_of(graph, edge.parent) + " > " + name_of(graph, edge.child));
    }
    return edges;
}

}  // namespace astra::test
