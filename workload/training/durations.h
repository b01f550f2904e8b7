// What ops are expected to take, before anything runs.
#pragma once

#include <vector>

#include "astra/core/types.h"
#include "system/model/measured_times.h"
#include "workload/graph/execution_graph.h"
#include "workload/replay/replay_config.h"

namespace astra {

class ComputeModel;

// What the system says about the times of ops.
struct SystemTimes {
    ReplayConfig replay;
    const ComputeModel* compute = nullptr;  // nullptr: computations take what was recorded
    MeasuredTimes measured;
};

// The duration of each op, without noise: computations by the model or as recorded; collectives
// their measured time, where the system has one for their kind; all else as recorded.
std::vector<Duration> expected_durations(const ExecutionGraph& graph, const SystemTimes& system);

// Whether an op takes time, or moves bytes: false for a trace that says nothing.
bool has_work(const ExecutionGraph& graph, const SystemTimes& system);

// 0 if the system has no measured time for the kind.
Duration measured_cost(const CollectiveDetail& detail, const SystemTimes& system);

}  // namespace astra
