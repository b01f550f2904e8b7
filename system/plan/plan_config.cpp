#include "system/plan/plan_config.h"

#include <array>
#include <string>

#include "astra/config/registry_choice.h"
#include "system/plan/dimension_order.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostChunks = 1U << 16;

}  // namespace

PlanConfig PlanConfig::from_config(const ConfigView& system,
                                   std::uint32_t dimensions,
                                   const ProgramReader& reader) {
    PlanConfig config;
    config.chunks = static_cast<std::uint32_t>(system.integer_or("chunks", 1, 1, kMostChunks));
    config.dimension_order =
        &choose(system, "dimension_order", kAscendingDimensionOrder.name, dimension_orders());
    const std::array<std::string, 2> shapes = {"baseline", "local_bandwidth_aware"};
    config.all_reduce_shape =
        system.choice_or("all_reduce_shape", "local_bandwidth_aware", shapes) == "baseline"
            ? AllReduceShape::Baseline
            : AllReduceShape::LocalBandwidthAware;
    config.tuning = TuningConfig::from_config(system);
    config.measured = MeasuredTimes::from_config(system);
    config.algorithms = CollectiveAlgorithms::from_config(
        system, dimensions, config.tuning.protocols, config.measured, reader);
    return config;
}

}  // namespace astra
