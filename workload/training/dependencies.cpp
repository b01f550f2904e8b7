#include "workload/training/dependencies.h"

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

}  // namespace astra
