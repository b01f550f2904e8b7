// Measured collectives to compare with: the output of nccl-tests, or a CSV of bus bandwidths.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace astra {

// Bus bandwidth in GB/s (10^9 bytes) by the size of the buffer in bytes.
using MeasuredBandwidths = std::map<std::uint64_t, double>;

// `source` is FILE or FILE:COLUMN. A CSV has a line of headers, `bytes` first; '#' begins a
// comment; without COLUMN the second column is meant. In the output of nccl-tests ("size count type
// redop root time algbw busbw …") the bus bandwidth out of place is taken, or in place with the
// column `in_place`. Throws ConfigError with file and line.
MeasuredBandwidths read_measured(const std::string& source);

}  // namespace astra
