// Several iterations of a trace that has one, and what an iteration waits for in the one before.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "workload/graph/execution_graph.h"
#include "workload/training/dependencies.h"
#include "workload/training/structure.h"

namespace astra {

// Every op of `after` waits for all of `before`.
struct Join {
    std::vector<std::uint32_t> before;
    std::vector<std::uint32_t> after;
};

enum class IterationStart : std::uint8_t {
    AfterAll,          // a barrier: everything of the iteration before is done
    AfterComputation,  // as the one stream of a GPU would: whatever waits for no transfer is done,
                       // and each first reader waits for its update
};

// What each iteration waits for in the one before, beyond what the trace says. In a trace of one
// iteration `after` are the ops of which the copies in the next one wait. `barrier`: ops that the
// next iteration waits for too, by name; "" = none. O(ops + edges).
std::vector<Join> joins_of(const ExecutionGraph& graph,
                           const Dependencies& dependencies,
                           const TrainingStructure& structure,
                           IterationStart start,
                           const std::string& barrier);

// Ops of the graph, and one for each join of several ops with several: it takes no time and saves
// edges.
std::uint32_t joined_size(const ExecutionGraph& graph, std::span<const Join> joins);

// `copies` of the graph one after the other, those of copy k+1 that are in `after` waiting for
// those of copy k that are in `before`; op i of copy k is op k · joined_size() + i.
// ExecutionGraph::iteration and CollectiveDetail::iteration count the copies. Requires that there
// is room for the ops.
ExecutionGraph unroll(const ExecutionGraph& graph,
                      std::span<const Join> joins,
                      std::uint32_t copies);

// The graph with joins within it, appended as further ops, and its iterations noted.
ExecutionGraph join(const ExecutionGraph& graph,
                    std::span<const Join> joins,
                    const std::vector<std::uint32_t>& iteration);

}  // namespace astra
