// What ops are expected to take, before anything runs.
#pragma once

#include <vector>

#include "astra/core/types.h"
#include "system/system_config.h"
#include "workload/graph/execution_graph.h"

namespace astra {

// The duration of each op, without noise: computations by the roofline or as recorded; collectives
// their measured time, where the system has one for their kind; all else as recorded.
std::vector<Duration> expected_durations(const ExecutionGraph& graph, const SystemConfig& system);

// 0 if the system has no measured time for the kind.
Duration measured_cost(const CollectiveDetail& detail, const SystemConfig& system);

}  // namespace astra
