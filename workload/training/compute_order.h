// Caramel's compute scheduling: which of several ready ops a rank runs first, and where updates
// stand. Pure functions of a graph. Hashemi and others, arXiv 2004.14020; the definitions are ours
// (docs/caramel.md).
#pragma once

#include <cstdint>
#include <vector>

#include "system/transfer/forecast.h"
#include "workload/graph/execution_graph.h"
#include "workload/training/dependencies.h"
#include "workload/training/structure.h"

namespace astra {

// Frees updates from what only puts them into an order: an op that its name calls the update of a
// parameter which is reduced keeps its dependencies on the transfers of that parameter and on ops
// that are no update, transfer or backward computation by name; the others go, and it depends on
// its own transfers. Dependencies of all other ops stay. The number of dependencies that went.
std::uint64_t free_updates(ExecutionGraph& graph, const TrainingStructure& structure);

// ExecutionGraph::order of one iteration: what leads to the gradient of the least slack goes
// first, among equals the lower op; ops that lead to no gradient come last, and an update stands
// before its first reader, in the next iteration. `slack_ps`: by place in structure.transfers,
// may be negative. It is an order of ready ops: whoever follows it keeps the dependencies.
std::vector<std::uint32_t> tightest_first(const ExecutionGraph& graph,
                                          const Dependencies& dependencies,
                                          const TrainingStructure& structure,
                                          const std::vector<std::int64_t>& slack_ps);

// That order for copies of the graph, `stride` ops apart, in all `size` ops: iteration by
// iteration, updates among the ops of the iteration after theirs.
std::vector<std::uint32_t> order_of_copies(const std::vector<std::uint32_t>& order,
                                           const TrainingStructure& structure,
                                           std::uint32_t stride,
                                           std::uint32_t size);

// What an iteration takes if transfers run one after the other, the earliest end boundary first
// among those that are ready, and `cost` is the time of each, by number: the computation, longer by
// the longest that a reader waits, but no less than all transfers.
Duration expected_iteration(const GroupForecast& forecast, const std::vector<Duration>& cost);

}  // namespace astra
