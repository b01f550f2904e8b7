// How long flows took.
#pragma once

#include <span>

#include "astra/app/run_result.h"
#include "astra/core/records.h"

namespace astra {

// All zero without flows. O(n) time, 8 bytes a flow.
FlowStatistics flow_statistics(std::span<const FlowRecord> flows);

}  // namespace astra
