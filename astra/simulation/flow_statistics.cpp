#include "astra/simulation/flow_statistics.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace astra {

namespace {

// The position in order of the smallest of `count` values that `permille` of them do not exceed.
std::uint64_t nearest_rank(std::uint64_t count, std::uint64_t permille) {
    return (count * permille + 999) / 1000 - 1;
}

}  // namespace

FlowStatistics flow_statistics(std::span<const FlowRecord> flows) {
    FlowStatistics result;
    unsigned __int128 finishes_ps = 0;
    unsigned __int128 durations_ps = 0;
    SimTime first{kMaxPs};
    SimTime last;
    std::vector<std::uint64_t> times_ps;
    times_ps.reserve(flows.size());
    for (const FlowRecord& flow : flows) {
        if (flow.finish.ps == kMaxPs) {
            continue;
        }
        const Duration duration = flow.finish - flow.start;
        times_ps.push_back(duration.ps);
        result.bytes = saturating_add(result.bytes, flow.bytes.count);
        finishes_ps += flow.finish.ps;
        durations_ps += duration.ps;
        first = std::min(first, flow.start);
        last = std::max(last, flow.finish);
    }
    const std::uint64_t count = times_ps.size();
    if (count == 0) {
        return result;
    }
    result.count = count;
    result.makespan = last - first;
    result.mean_finish = {static_cast<std::uint64_t>((finishes_ps + count / 2) / count)};
    result.mean = {static_cast<std::uint64_t>((durations_ps + count / 2) / count)};
    // Each percentile is looked for above the one before it.
    auto from = times_ps.begin();
    const auto percentile = [&](std::uint64_t permille) {
        const auto at =
            times_ps.begin() + static_cast<std::ptrdiff_t>(nearest_rank(count, permille));
        std::nth_element(from, at, times_ps.end());
        from = at;
        return Duration{*at};
    };
    result.least = {*std::min_element(times_ps.begin(), times_ps.end())};
    result.p50 = percentile(500);
    result.p90 = percentile(900);
    result.p99 = percentile(990);
    result.p999 = percentile(999);
    result.most = percentile(1000);
    return result;
}

}  // namespace astra
