// The schedule that a run came to, for traces that hold it.
#pragma once

#include <cstdint>
#include <vector>

#include "system/transfer/transfer_queue.h"
#include "workload/graph/execution_graph.h"

namespace astra {

struct RunSchedule {
    const Workload& workload;            // of the only job; belongs to the simulation
    std::vector<LaunchRecord> launches;  // of gradient transfers, in the order of their starts
    std::vector<std::vector<std::uint32_t>> ops_by_start;  // by rank of the job
};

}  // namespace astra
