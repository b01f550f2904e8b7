#include "system/run/message_costs.h"

#include <cmath>

#include "astra/config/config_view.h"

namespace astra {

namespace {

constexpr double kMostScale = 1e6;
constexpr Duration kUsualDelay{10'000};

}  // namespace

EndpointCosts EndpointCosts::from_config(const ConfigView& system) {
    EndpointCosts costs;
    const double scale = system.number_or("injection_scale", 1.0);
    if (scale < 0 || scale > kMostScale) {
        system.at("injection_scale").fail("expected a factor from 0 to 1000000");
    }
    const Duration delay = system.duration_or("endpoint_delay", kUsualDelay);
    costs.delay = {static_cast<std::uint64_t>(std::llround(static_cast<double>(delay.ps) * scale))};
    costs.memory = system.bandwidth_or("local_memory_bandwidth", {});
    costs.rendezvous = system.bool_or("rendezvous", false);
    return costs;
}

}  // namespace astra
