// What the study's section `system` says about how ranks replay their graphs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "astra/config/config_view.h"
#include "workload/replay/rank_streams.h"

namespace astra {

struct ReplayConfig {
    bool replay_only = false;      // every op takes its recorded time; nothing is sent
    bool streams_of_trace = true;  // streams that a trace names are used; `streams`: for other ops
    bool threads_of_trace = true;  // and the host runs its threads beside each other
    StreamRules streams;

    // system.replay_only; .streams: `trace`, a number of streams of each kind, or a map of such
    // numbers; .host_threads. Throws ConfigError.
    static ReplayConfig from_config(const ConfigView& system) {
        constexpr std::uint64_t most_streams = 1U << 16;
        ReplayConfig config;
        config.replay_only = system.bool_or("replay_only", false);
        const std::array<std::string, 2> threads = {"trace", "one"};
        config.threads_of_trace = system.choice_or("host_threads", "trace", threads) == "trace";
        const auto given = system.find("streams");
        config.streams_of_trace = !given || (given->is_scalar() && given->as_string() == "trace");
        if (config.streams_of_trace) {
            system.string_or("streams", "trace");
            return config;
        }
        const std::uint64_t all = given->is_map() ? 0 : number_of(*given, most_streams);
        for (const auto& [key, count] :
             {std::pair{"cpu", &config.streams.cpu},
              std::pair{"compute", &config.streams.compute},
              std::pair{"communication", &config.streams.communication}}) {
            *count = static_cast<std::uint32_t>(
                all > 0 ? all : given->integer_or(key, 1, 1, most_streams));
        }
        return config;
    }

  private:
    static std::uint64_t number_of(const ConfigView& streams, std::uint64_t most) {
        const std::string text = streams.as_string();
        if (text.find_first_not_of("0123456789") != std::string::npos) {
            streams.fail("'" + text + "' is neither 'trace' nor a number of streams of each kind");
        }
        return streams.as_integer(1, most);
    }
};

}  // namespace astra
