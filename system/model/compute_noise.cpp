#include "system/model/compute_noise.h"

#include "astra/core/mix.h"
#include "astra/core/noise.h"

namespace astra {

namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

}  // namespace

Duration ComputeNoise::stretch(Duration time, std::uint32_t rank, std::uint64_t op) const {
    if (config_.deviation == 0 || time.ps == 0) {
        return time;
    }
    const std::uint64_t state = mix(mix(config_.seed ^ (std::uint64_t{rank} << 40)) ^ op);
    const double ps = static_cast<double>(time.ps) * noise_factor(config_.deviation, state);
    return {ps >= kTwoTo63 ? kMaxPs : static_cast<std::uint64_t>(ps)};
}

}  // namespace astra
