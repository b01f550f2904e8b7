// A trace in which the schedule of gradient transfers is written out: merged and split transfers
// are collectives, and dependencies of control keep the order in which they, and the
// computations, ran. Any simulator that plays Chakra traces can play it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "system/transfer/transfer_queue.h"
#include "workload/generate/generator.h"
#include "workload/graph/execution_graph.h"

namespace astra {

// Gives all nodes of a rank's new trace to `sink`. `launches`, in the order of their starts, hold
// every byte of every transfer of the graph; their group is an index into Workload::groups. A
// launch depends on the parents of its transfers and, by control, on the last launch of its group
// that ended before it began; whatever depended on a transfer depends on all launches with a part
// of it. `computed`: ops in the order in which they started; each computation of a GPU that waits
// for no transfer depends by control on the one before it.
void emit_schedule(const Workload& workload,
                   std::uint32_t rank,
                   std::span<const LaunchRecord> launches,
                   std::span<const std::uint32_t> computed,
                   NodeSink& sink);

}  // namespace astra
