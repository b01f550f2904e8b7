// How long a compute op takes: as recorded, or by a roofline, with seeded noise.
#pragma once

#include <cstdint>
#include <optional>

#include "astra/core/types.h"
#include "system/system_config.h"

namespace astra {

class ComputeModel {
  public:
    explicit ComputeModel(const SystemConfig& config);

    // Roofline: max(operations / peak, bytes / memory bandwidth), rounded up to a picosecond; that
    // is operations / min(peak, bandwidth · operations / bytes). Williams, Waterman, Patterson
    // (2009).
    Duration roofline(std::uint64_t operations, Bytes traffic) const;

    // The time stretched by the noise of this op: a factor of mean 1, the sum of twelve uniform
    // numbers scaled to the configured deviation and cut at 0. It depends on the seed, rank and op
    // alone.
    Duration with_noise(Duration time, std::uint32_t rank, std::uint64_t op) const;

  private:
    double peak_per_ps_ = 0;
    Bandwidth memory_;
    double deviation_ = 0;
    std::uint64_t seed_ = 1;
};

}  // namespace astra
