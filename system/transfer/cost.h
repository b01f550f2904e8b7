// What an all-reduce of a communicator costs, for policies that reckon with it.
#pragma once

#include <cstdint>
#include <optional>

#include "astra/core/types.h"
#include "system/model/measured_times.h"

namespace astra {

class CollectiveTimer;
class ProcessGroup;
struct CollectiveRequest;

// T(s) = α + β·s; or, of a communicator whose collectives are `measured`, exactly that time.
struct TransferCost {
    Duration alpha;
    double beta_ps = 0;  // a byte
    const MeasuredTime* measured = nullptr;

    Duration at(Bytes size) const;
    // The bytes that take `factor`·α beside α, at most 2^62; β = 0: all.
    Bytes bytes_for(double factor) const;
    // The factor whose bytes_for() is `size`; 0 if α is 0.
    double factor_of(Bytes size) const;
};

// The straight line through two points, the second with more bytes and no less time; α is never
// below 0.
TransferCost line_through(Bytes small, Duration small_time, Bytes large, Duration large_time);

// The cost of collectives like this one among these ranks, by two sizes up to `largest`. Costs two
// such collectives.
TransferCost measure_cost(CollectiveTimer& timer,
                          const ProcessGroup& group,
                          CollectiveRequest like,
                          Bytes largest);

}  // namespace astra
