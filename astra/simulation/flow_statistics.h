// How long flows took.
#pragma once

#include <span>

#include "astra/core/records.h"
#include "astra/simulation/run_result.h"

namespace astra {

// All zero without flows. O(n) time, 8 bytes a flow.
FlowStatistics flow_statistics(std::span<const FlowRecord> flows);

}  // namespace astra
