#include "astra/app/collective/measured_times.h"

#include "system/model/measured_file.h"

namespace astra {

MeasuredBandwidths read_measured(const std::string& source) {
    const std::size_t colon = source.rfind(':');
    const bool has_column = colon != std::string::npos && colon > 0;
    MeasuredBandwidths bandwidths;
    for (const auto& [bytes, point] :
         read_measured_file(has_column ? source.substr(0, colon) : source,
                            has_column ? source.substr(colon + 1) : "")) {
        bandwidths.emplace(bytes, point.bus_bandwidth);
    }
    return bandwidths;
}

}  // namespace astra
