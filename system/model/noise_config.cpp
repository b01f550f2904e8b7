#include "system/model/noise_config.h"

#include "astra/config/config_view.h"

namespace astra {

NoiseConfig NoiseConfig::from_config(const ConfigView& noise) {
    NoiseConfig config;
    config.deviation = noise.number_or("deviation", 0);
    if (config.deviation < 0 || config.deviation > 1) {
        noise.at("deviation").fail("expected a relative standard deviation from 0 to 1");
    }
    config.seed = noise.seed_or("seed", 1);
    return config;
}

}  // namespace astra
