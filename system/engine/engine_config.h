// What the study's section `system` says to the collective engine, part by part.
#pragma once

#include "system/engine/queue_config.h"
#include "system/plan/plan_config.h"
#include "system/run/message_costs.h"

namespace astra {

struct EngineConfig {
    EndpointCosts endpoint;
    QueueConfig queues;
    PlanConfig plan;

    // Throws ConfigError. `dimensions` of the network, by which lists of algorithms are checked.
    static EngineConfig from_config(const ConfigView& system,
                                    std::uint32_t dimensions,
                                    const ProgramReader& reader) {
        return {EndpointCosts::from_config(system),
                QueueConfig::from_config(system),
                PlanConfig::from_config(system, dimensions, reader)};
    }
};

}  // namespace astra
