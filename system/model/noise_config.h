// Seeded noise of a quantity, as a study gives it.
#pragma once

#include <cstdint>

namespace astra {

class ConfigView;

struct NoiseConfig {
    double deviation = 0;  // relative standard deviation
    std::uint64_t seed = 1;

    // The keys `deviation` and `seed` of `noise`. Throws ConfigError.
    static NoiseConfig from_config(const ConfigView& noise);
};

}  // namespace astra
