// How long a compute op takes: as recorded, or by a roofline, with seeded noise.
#pragma once

#include <cstdint>

#include "astra/core/types.h"
#include "system/model/noise_config.h"

namespace astra {

class ConfigView;

struct ComputeConfig {
    bool roofline = false;
    double peak_operations_per_s = 0;
    Bandwidth memory;
    NoiseConfig noise;

    // system.roofline, .peak, .local_memory_bandwidth and .compute_noise. Throws ConfigError.
    static ComputeConfig from_config(const ConfigView& system);
};

class ComputeModel {
  public:
    explicit ComputeModel(const ComputeConfig& config);

    // Whether ops whose operations or bytes are known take the time of the roofline.
    bool by_roofline() const { return by_roofline_; }

    // Roofline: max(operations / peak, bytes / memory bandwidth), rounded up to a picosecond; that
    // is operations / min(peak, bandwidth · operations / bytes). Williams, Waterman, Patterson
    // (2009).
    Duration roofline(std::uint64_t operations, Bytes traffic) const;

    // The time stretched by the noise of this op: a factor of mean 1, the sum of twelve uniform
    // numbers scaled to the configured deviation and cut at 0. It depends on the seed, rank and op
    // alone.
    Duration with_noise(Duration time, std::uint32_t rank, std::uint64_t op) const;

  private:
    bool by_roofline_ = false;
    double peak_per_ps_ = 0;
    Bandwidth memory_;
    NoiseConfig noise_;
};

}  // namespace astra
