// The noise of compute times.
#pragma once

#include <cstdint>

#include "astra/core/types.h"
#include "system/model/noise_config.h"

namespace astra {

class ComputeNoise {
  public:
    explicit ComputeNoise(const NoiseConfig& config) : config_(config) {}

    // The time stretched by the noise of this op: a factor of mean 1, the sum of twelve uniform
    // numbers scaled to the configured deviation and cut at 0. It depends on the seed, rank and op
    // alone.
    Duration stretch(Duration time, std::uint32_t rank, std::uint64_t op) const;

  private:
    NoiseConfig config_;
};

}  // namespace astra
