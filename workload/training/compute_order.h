// What it takes to run a trace in the order of computations that a transfer policy has
// (system/transfer/compute_order.h). Pure functions of a graph.
#pragma once

#include <cstdint>
#include <vector>

#include "system/transfer/compute_order.h"
#include "system/transfer/forecast.h"
#include "workload/graph/execution_graph.h"
#include "workload/training/dependencies.h"
#include "workload/training/structure.h"

namespace astra {

// Frees updates from what only puts them into an order: an op that its name calls the update of a
// parameter which is reduced keeps its dependencies on the transfers of that parameter and on ops
// that are no update, transfer or backward computation by name; the others go, and it depends on
// the transfers of its parameter. Dependencies of all other ops stay. The number of dependencies
// that went.
std::uint64_t free_updates(ExecutionGraph& graph, const TrainingStructure& structure);

// The ops of a trace as a compute order sees them. `slack_ps`: beside structure.transfers. Shares
// the memory of all that is given.
ComputeGraph compute_graph(const ExecutionGraph& graph,
                           const Dependencies& dependencies,
                           const TrainingStructure& structure,
                           const std::vector<std::int64_t>& slack_ps);

// ExecutionGraph::order of copies of a graph, `stride` ops apart, in all `size` ops, by the order
// of one: iteration by iteration, updates among the ops of the iteration after theirs.
std::vector<std::uint32_t> order_of_copies(const std::vector<std::uint32_t>& order,
                                           const TrainingStructure& structure,
                                           std::uint32_t stride,
                                           std::uint32_t size);

// What an iteration takes if transfers run one after the other, the earliest end boundary first
// among those that are ready, and `cost` is the time of each, by number: the computation, longer by
// the longest that a reader waits, but no less than all transfers.
Duration expected_iteration(const GroupForecast& forecast, const std::vector<Duration>& cost);

}  // namespace astra
