// What is known of the gradient transfers of a training iteration before it runs. The workload
// layer finds it in the trace and hands it down with the groups; the transfer queue schedules by
// it. The same for every iteration.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/types.h"

namespace astra {

inline constexpr std::uint32_t kNoTransfer = 0xffffffffU;

struct TransferForecast {
    Bytes bytes;
    // Lengths from the start of the iteration, under the durations of the trace alone, without
    // waiting for any transfer.
    Duration ready;              // its gradient is complete
    Duration needed;             // its end boundary: the first op of the next iteration that reads
                                 // the parameter begins; or that iteration, if it has a barrier
    std::uint32_t priority = 0;  // 0 is read first, then 1
};

// What is known of the transfers of one group.
struct GroupForecast {
    Duration iteration;  // all that one rank computes in it: the next one cannot start earlier
    std::vector<TransferForecast> transfers;  // by number: in ascending order of `ready`
};

}  // namespace astra
