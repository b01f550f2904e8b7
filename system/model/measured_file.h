// Measured collectives: the output of nccl-tests, or a CSV of bus bandwidths.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "astra/core/types.h"

namespace astra {

struct MeasuredPoint {
    double bus_bandwidth = 0;      // GB/s of 10^9 bytes
    std::optional<Duration> time;  // of nccl-tests only
};

// Points by the size of the buffer in bytes.
using MeasuredPoints = std::map<std::uint64_t, MeasuredPoint>;

// A CSV has a line of headers, `bytes` first; '#' begins a comment; without `column` the second
// column is meant. In the output of nccl-tests ("size count type redop root time algbw busbw #wrong
// time algbw busbw #wrong") what was measured out of place is taken, or in place with the column
// `in_place`; rows of no bytes are left out. Throws ConfigError with file and line.
MeasuredPoints read_measured_file(const std::string& file, const std::string& column);

}  // namespace astra
