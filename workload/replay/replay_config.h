// What the study's section `system` says about how ranks replay their graphs.
#pragma once

#include <cstdint>
#include <utility>

#include "astra/config/config_view.h"
#include "workload/replay/rank_streams.h"

namespace astra {

struct ReplayConfig {
    bool replay_only = false;  // every op takes its recorded time; nothing is sent
    StreamRules streams;

    // system.replay_only and .streams. Throws ConfigError.
    static ReplayConfig from_config(const ConfigView& system) {
        constexpr std::uint64_t most_streams = 1U << 16;
        ReplayConfig config;
        config.replay_only = system.bool_or("replay_only", false);
        const ConfigView streams = system.section("streams");
        for (const auto& [key, count] :
             {std::pair{"cpu", &config.streams.cpu},
              std::pair{"compute", &config.streams.compute},
              std::pair{"communication", &config.streams.communication}}) {
            *count = static_cast<std::uint32_t>(streams.integer_or(key, 1, 1, most_streams));
        }
        return config;
    }
};

}  // namespace astra
