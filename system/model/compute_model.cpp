#include "system/model/compute_model.h"

#include <algorithm>
#include <cmath>

#include "astra/core/mix.h"
#include "astra/core/noise.h"

namespace astra {

namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

}  // namespace

ComputeModel::ComputeModel(const SystemConfig& config)
    : peak_per_ps_(config.peak_operations_per_s / 1e12),
      memory_(config.local_memory_bandwidth),
      deviation_(config.compute_noise),
      seed_(config.noise_seed) {}

Duration ComputeModel::roofline(std::uint64_t operations, Bytes traffic) const {
    Duration compute;
    if (operations > 0) {
        const double ps = std::ceil(static_cast<double>(operations) / peak_per_ps_);
        compute = {ps >= kTwoTo63 ? kMaxPs : static_cast<std::uint64_t>(ps)};
    }
    return std::max(compute, transfer_time(traffic, memory_));
}

Duration ComputeModel::with_noise(Duration time, std::uint32_t rank, std::uint64_t op) const {
    if (deviation_ == 0 || time.ps == 0) {
        return time;
    }
    const std::uint64_t state = mix(mix(seed_ ^ (std::uint64_t{rank} << 40)) ^ op);
    const double ps = static_cast<double>(time.ps) * noise_factor(deviation_, state);
    return {ps >= kTwoTo63 ? kMaxPs : static_cast<std::uint64_t>(ps)};
}

}  // namespace astra
