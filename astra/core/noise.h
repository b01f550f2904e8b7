// Seeded noise of simulated quantities.
#pragma once

#include <algorithm>
#include <cstdint>

#include "astra/core/mix.h"

namespace astra {

// A factor of mean 1 and the relative standard deviation `deviation`, never below `least`: the sum
// of twelve uniform numbers, which is nearly normal. It depends on `state` alone.
inline double noise_factor(double deviation, std::uint64_t state, double least = 0) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
        state = mix(state);
        sum += static_cast<double>(state >> 11U) * 0x1.0p-53;
    }
    return std::max(least, 1 + deviation * sum);
}

}  // namespace astra
