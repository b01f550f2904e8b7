#include "system/model/compute_model.h"

#include <algorithm>
#include <cmath>

#include "astra/config/config_view.h"
#include "astra/core/mix.h"
#include "astra/core/noise.h"

namespace astra {

namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

}  // namespace

ComputeConfig ComputeConfig::from_config(const ConfigView& system) {
    ComputeConfig config;
    config.roofline = system.bool_or("roofline", false);
    if (const auto peak = system.find("peak")) {
        config.peak_operations_per_s = peak->as_rate();
    }
    config.memory = system.bandwidth_or("local_memory_bandwidth", {});
    if (config.roofline && (config.peak_operations_per_s <= 0 || config.memory.bits_per_s == 0)) {
        system.at("roofline").fail("a roofline needs peak and local_memory_bandwidth above 0");
    }
    config.noise = NoiseConfig::from_config(system.section("compute_noise"));
    return config;
}

ComputeModel::ComputeModel(const ComputeConfig& config)
    : by_roofline_(config.roofline),
      peak_per_ps_(config.peak_operations_per_s / 1e12),
      memory_(config.memory),
      noise_(config.noise) {}

Duration ComputeModel::roofline(std::uint64_t operations, Bytes traffic) const {
    Duration compute;
    if (operations > 0) {
        const double ps = std::ceil(static_cast<double>(operations) / peak_per_ps_);
        compute = {ps >= kTwoTo63 ? kMaxPs : static_cast<std::uint64_t>(ps)};
    }
    return std::max(compute, transfer_time(traffic, memory_));
}

Duration ComputeModel::with_noise(Duration time, std::uint32_t rank, std::uint64_t op) const {
    if (noise_.deviation == 0 || time.ps == 0) {
        return time;
    }
    const std::uint64_t state = mix(mix(noise_.seed ^ (std::uint64_t{rank} << 40)) ^ op);
    const double ps = static_cast<double>(time.ps) * noise_factor(noise_.deviation, state);
    return {ps >= kTwoTo63 ? kMaxPs : static_cast<std::uint64_t>(ps)};
}

}  // namespace astra
