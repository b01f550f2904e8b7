// When the iterations of a training job ran, and how long each rank computed in each of them.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/records.h"
#include "astra/core/types.h"

namespace astra {

// 24 bytes a rank and iteration; O(1) an op.
class IterationLog {
  public:
    IterationLog(std::uint32_t ranks, std::uint32_t iterations)
        : times_(iterations), compute_(std::size_t{ranks} * iterations) {}

    std::uint32_t iterations() const { return static_cast<std::uint32_t>(times_.size()); }
    // An op of `rank` of the job begins or ends.
    void begin(std::uint32_t rank, std::uint32_t iteration, bool computes, SimTime now);
    void end(std::uint32_t rank, std::uint32_t iteration, bool computes, SimTime now);
    std::vector<IterationTimes> times() const;

  private:
    struct Compute {
        std::uint32_t running = 0;
        SimTime since;
        Duration length;
    };
    std::vector<IterationTimes> times_;
    std::vector<Compute> compute_;  // rank · iterations + iteration
};

}  // namespace astra
