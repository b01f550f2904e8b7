#include "workload/record/iteration_log.h"

#include <algorithm>

namespace astra {

void IterationLog::begin(std::uint32_t rank, std::uint32_t iteration, bool computes, SimTime now) {
    times_[iteration].start = std::min(times_[iteration].start, now);
    Compute& compute = compute_[std::size_t{rank} * times_.size() + iteration];
    if (computes && compute.running++ == 0) {
        compute.since = now;
    }
}

void IterationLog::end(std::uint32_t rank, std::uint32_t iteration, bool computes, SimTime now) {
    times_[iteration].end = std::max(times_[iteration].end, now);
    Compute& compute = compute_[std::size_t{rank} * times_.size() + iteration];
    if (computes && --compute.running == 0) {
        compute.length = compute.length + (now - compute.since);
    }
}

std::vector<IterationTimes> IterationLog::times() const {
    std::vector<IterationTimes> times = times_;
    for (std::size_t i = 0; i < compute_.size(); ++i) {
        Duration& longest = times[i % times.size()].compute;
        longest = std::max(longest, compute_[i].length);
    }
    return times;
}

}  // namespace astra
