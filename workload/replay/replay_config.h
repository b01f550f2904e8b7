// What the study's section `system` says about how ranks replay their graphs.
#pragma once

#include "workload/replay/rank_streams.h"

namespace astra {

class ConfigView;

struct ReplayConfig {
    bool replay_only = false;  // every op takes its recorded time; nothing is sent
    StreamRules streams;

    // system.replay_only and .streams. Throws ConfigError.
    static ReplayConfig from_config(const ConfigView& system);
};

}  // namespace astra
