// Collectives measured on a simulated machine, as nccl-tests measure them on a real one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "astra/app/collective/measured_times.h"
#include "astra/core/types.h"

namespace astra {

struct CollectiveTime {
    CollectiveKind kind{};
    std::string algorithm;  // as it was asked for
    std::string picked;     // what ran: that, or what was chosen for the size
    std::uint32_t ranks = 0;
    Bytes bytes;  // nccl-tests' size: the whole buffer
    Duration time;
    Duration need;  // of the busiest link; 0 as in CollectiveRecord

    // GB/s of 10^9 bytes; the bus bandwidth is what a link carries (nccl-tests, PERFORMANCE.md).
    double algorithm_bandwidth() const;
    double bus_bandwidth() const;
    // The links would have to carry more than they can.
    bool beyond_links() const { return need > time; }
};

// The rows of one kind: a line a size, columns an algorithm. '!' marks what is beyond the links,
// '*' the fastest of the others; with `measured` its bandwidth and the error of the fastest in per
// cent. Below, what was chosen for ranges of sizes, and why something is beyond the links.
std::string collective_table(CollectiveKind kind,
                             const std::vector<std::string>& algorithms,
                             const std::vector<CollectiveTime>& times,
                             const MeasuredBandwidths& measured);
std::string collectives_measured_csv(const std::vector<CollectiveTime>& times);
std::string collectives_measured_json(const std::vector<CollectiveTime>& times);

}  // namespace astra
