// When each op would run if gradients were reduced in no time: list scheduling on the streams of a
// rank, which are the replayer's, of one rank for each distinct graph. The network and the engines
// of the replayer are left out: every op takes its duration.
//
// Ranks wait for each other's messages: the k-th receive of a tag from a rank with some graph takes
// the k-th send of it there. Collectives take their time from when this rank comes to them; other
// members are not waited for. What no message comes for is taken as received once nothing else can
// run.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/types.h"
#include "workload/graph/execution_graph.h"
#include "workload/replay/rank_streams.h"

namespace astra {

struct FreeRank {
    const ExecutionGraph* graph = nullptr;
    std::vector<Duration> durations;        // by op; a send lasts until it is received
    std::vector<std::uint32_t> peer_ranks;  // by peer role: index among the free ranks
};

struct FreeTimes {
    std::vector<SimTime> start;  // by op; kMaxPs for ops that were left out
    std::vector<SimTime> end;
};

// Transfers (CollectiveDetail::transfer) take no time, and no stream by `rules`; the streams of a
// rank are filled one kind after the other. O(ops · log ops + edges).
std::vector<FreeTimes> run_free(const std::vector<FreeRank>& ranks, const StreamRules& rules);

}  // namespace astra
