// A workload on some ranks of the fabric.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "astra/core/types.h"
#include "workload/graph/execution_graph.h"

namespace astra {

struct Job {
    std::string name;  // "" if it is the only one
    Workload workload;
    std::vector<std::uint32_t> fabric_ranks;  // rank of the job -> rank of the fabric
    SimTime start;
    // comm_size of all_gather, gather and scatter is one rank's part.
    bool all_gather_shards = true;
};

}  // namespace astra
