// How long flows took, and what each would take alone.
#pragma once

#include <span>
#include <vector>

#include "astra/core/records.h"
#include "astra/simulation/run_result.h"
#include "network/routing/routing.h"

namespace astra {

// Sets FlowRecord::ideal: the bytes on the narrowest place of its way, and the latencies. Where the
// routing spreads a flow, a place is all the links together that lead on from a node; `packets`
// says whether packets choose links one by one. 0 where there is no way, or nothing takes time.
// O(links of the way) a flow.
void add_ideals(Routing& routing, bool packets, std::vector<FlowRecord>& flows);

// All zero without flows. O(n) time, 8 bytes a flow.
FlowStatistics flow_statistics(std::span<const FlowRecord> flows);

}  // namespace astra
