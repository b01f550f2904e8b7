// A graph's edges the other way round, and its ops in an order that respects them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workload/graph/execution_graph.h"

namespace astra {

class Dependencies {
  public:
    // O(ops + edges) time and memory. `graph` must outlive this and have no cycle.
    explicit Dependencies(const ExecutionGraph& graph);

    std::span<const std::uint32_t> parents(std::uint32_t op) const {
        return {parent_.data() + begin_[op], parent_.data() + begin_[op + 1]};
    }
    std::span<const std::uint32_t> children(std::uint32_t op) const {
        return {graph_.child.data() + graph_.child_begin[op],
                graph_.child.data() + graph_.child_begin[op + 1]};
    }
    // Every op after its parents.
    const std::vector<std::uint32_t>& sorted() const { return sorted_; }

  private:
    const ExecutionGraph& graph_;
    std::vector<std::uint32_t> begin_;
    std::vector<std::uint32_t> parent_;
    std::vector<std::uint32_t> sorted_;
};

}  // namespace astra
