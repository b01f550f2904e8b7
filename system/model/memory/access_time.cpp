#include "system/model/memory/access_time.h"

#include "astra/config/config_view.h"

namespace astra {

AccessTime AccessTime::from_config(const ConfigView& memory) {
    AccessTime time;
    time.latency = memory.duration_or("latency", {});
    time.bandwidth = memory.at("bandwidth").as_bandwidth();
    if (time.bandwidth.bits_per_s == 0) {
        memory.at("bandwidth").fail("a memory needs a bandwidth above 0");
    }
    return time;
}

}  // namespace astra
