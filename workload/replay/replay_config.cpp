#include "workload/replay/replay_config.h"

#include "astra/config/config_view.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostStreams = 1U << 16;

}  // namespace

ReplayConfig ReplayConfig::from_config(const ConfigView& system) {
    ReplayConfig config;
    config.replay_only = system.bool_or("replay_only", false);
    const ConfigView streams = system.section("streams");
    const auto count = [&](const char* key) {
        return static_cast<std::uint32_t>(streams.integer_or(key, 1, 1, kMostStreams));
    };
    config.streams.cpu = count("cpu");
    config.streams.compute = count("compute");
    config.streams.communication = count("communication");
    return config;
}

}  // namespace astra
