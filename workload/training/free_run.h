// When each op would run if gradients were reduced in no time: list scheduling on the streams of a
// rank, as the replayer does it, of one rank for each distinct graph.
//
// Ranks wait for each other's messages: the k-th receive of a tag from a rank with some graph takes
// the k-th send of it there. Collectives take their time from when this rank comes to them; other
// members are not waited for. What no message comes for is taken as received once nothing else can
// run.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "astra/core/types.h"
#include "workload/graph/execution_graph.h"

namespace astra {

struct FreeRank {
    const ExecutionGraph* graph = nullptr;
    std::vector<Duration> durations;        // by op; of a send until it is received
    std::vector<std::uint32_t> peer_ranks;  // by peer role: index among the free ranks
};

struct FreeTimes {
    std::vector<SimTime> start;  // by op; kMaxPs for ops that were left out
    std::vector<SimTime> end;
};

// Only iterations below `iterations`. Transfers (CollectiveDetail::transfer) take no time and no
// stream. `streams`: for ops of the CPU, of the GPU, of communication. O(ops · log ops + edges).
std::vector<FreeTimes> run_free(const std::vector<FreeRank>& ranks,
                                const std::array<std::uint32_t, 3>& streams,
                                std::uint32_t iterations);

}  // namespace astra
