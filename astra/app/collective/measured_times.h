// Measured collectives to compare with.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace astra {

// Bus bandwidth in GB/s (10^9 bytes) by the size of the buffer in bytes.
using MeasuredBandwidths = std::map<std::uint64_t, double>;

// `source` is FILE or FILE:COLUMN, as read_measured_file (system/model/measured_file.h) takes them.
// Throws ConfigError with file and line.
MeasuredBandwidths read_measured(const std::string& source);

}  // namespace astra
