#include "system/run/message_costs.h"

#include <cmath>
#include <string>
#include <vector>

#include "astra/config/config_view.h"

namespace astra {

namespace {

constexpr double kMostScale = 1e6;
const std::vector<std::string> kEndsOfSends = {"departure", "arrival"};
constexpr std::uint64_t kMostRunAhead = 1'000'000;
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
    costs.sends_in_order = system.bool_or("sends_in_order", true);
    if (system.string_or("run_ahead", std::to_string(costs.run_ahead)) == "unbounded") {
        costs.run_ahead = 0;
    } else if (system.has("run_ahead")) {
        costs.run_ahead =
            static_cast<std::uint32_t>(system.at("run_ahead").as_integer(1, kMostRunAhead));
    }
    costs.sends_end_on_arrival =
        system.choice_or("sends_end", "departure", kEndsOfSends) == "arrival";
    return costs;
}

}  // namespace astra
