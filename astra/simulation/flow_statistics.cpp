#include "astra/simulation/flow_statistics.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace astra {

namespace {

constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

Duration ideal(Routing& routing, bool spreads, const FlowRecord& flow) {
    const Topology& topology = routing.topology();
    const std::uint32_t destination = index(flow.destination);
    std::uint32_t node = index(flow.source);
    std::uint64_t narrowest = kNoLimit;  // bits a second
    Duration latency;
    while (node != destination) {
        const std::span<const std::uint32_t> links = routing.next_links(node, destination);
        if (links.empty()) {
            return {};
        }
        std::uint64_t rate = 0;
        for (const std::uint32_t link : links.first(spreads ? links.size() : 1)) {
            const std::uint64_t of_link = topology.link(link).bandwidth.bits_per_s;
            rate = saturating_add(rate, of_link == 0 ? kNoLimit : of_link);
        }
        narrowest = std::min(narrowest, rate);
        latency = latency + topology.link(links[0]).latency;
        node = topology.link_ends(links[0]).to;
    }
    return latency + transfer_time(flow.bytes, Bandwidth{narrowest == kNoLimit ? 0 : narrowest});
}

// The position in order of the smallest of `count` values that `permille` of them do not exceed.
std::uint64_t nearest_rank(std::uint64_t count, std::uint64_t permille) {
    return (count * permille + 999) / 1000 - 1;
}

void add_slowdowns(std::span<const FlowRecord> flows, FlowStatistics& result) {
    std::vector<double> slowdowns;
    slowdowns.reserve(flows.size());
    for (const FlowRecord& flow : flows) {
        if (flow.has_slowdown()) {
            slowdowns.push_back(flow.slowdown());
        }
    }
    if (slowdowns.empty()) {
        return;
    }
    std::sort(slowdowns.begin(), slowdowns.end());
    const auto at = [&](std::uint64_t permille) {
        return slowdowns[nearest_rank(slowdowns.size(), permille)];
    };
    result.slowdown_p50 = at(500);
    result.slowdown_p99 = at(990);
    result.slowdown_most = slowdowns.back();
}

}  // namespace

void add_ideals(Routing& routing, bool packets, std::vector<FlowRecord>& flows) {
    const bool spreads = routing.policy() == RoutePolicy::Spray ||
                         (routing.policy() == RoutePolicy::Adaptive && packets);
    for (FlowRecord& flow : flows) {
        flow.ideal = ideal(routing, spreads, flow);
    }
}

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
    add_slowdowns(flows, result);
    return result;
}

}  // namespace astra
