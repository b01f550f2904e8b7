// latency + bytes / bandwidth, loads and stores alike.
#pragma once

#include "astra/core/types.h"

namespace astra {

class ConfigView;

struct AccessTime {
    Duration latency;
    Bandwidth bandwidth;

    Duration of(Bytes bytes) const { return latency + transfer_time(bytes, bandwidth); }

    // memory.latency and .bandwidth. Throws ConfigError.
    static AccessTime from_config(const ConfigView& memory);
};

}  // namespace astra
