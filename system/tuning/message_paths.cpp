#include "system/tuning/message_paths.h"

#include <algorithm>
#include <array>

namespace astra {

namespace {

// What classes of links are compared by.
constexpr std::uint64_t kReferenceBytes = std::uint64_t{1} << 20U;

// The most equal entries in a row of a sorted list, by the weight of what they stand for.
template <class Entry, class Weight>
std::pair<Entry, std::uint32_t> heaviest_run(std::vector<Entry>& entries, Weight weight) {
    std::sort(entries.begin(), entries.end());
    std::pair<Entry, std::uint32_t> best{entries.front(), 0};
    std::uint64_t best_weight = 0;
    for (std::size_t begin = 0; begin < entries.size();) {
        std::size_t end = begin;
        while (end < entries.size() && entries[end] == entries[begin]) {
            ++end;
        }
        const auto count = static_cast<std::uint32_t>(end - begin);
        const std::uint64_t its_weight = weight(entries[begin], count);
        if (best.second == 0 || its_weight > best_weight) {
            best = {entries[begin], count};
            best_weight = its_weight;
        }
        begin = end;
    }
    return best;
}

// Entries of a sorted list that differ.
std::size_t different(const std::vector<std::uint32_t>& sorted) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        count += i == 0 || sorted[i] != sorted[i - 1] ? 1 : 0;
    }
    return count;
}

}  // namespace

MessagePaths::MessagePaths(Routing& routing, const BackendInfo& backend)
    : routing_(routing), backend_(backend) {
    for (const LinkProperties& link : routing.topology().classes()) {
        clocks_.emplace_back(link.bandwidth);
    }
}

std::span<const std::uint32_t> MessagePaths::links(std::uint32_t source,
                                                   std::uint32_t destination) {
    links_.clear();
    longest_run_ = 1;
    for (std::uint32_t node = source; node != destination;) {
        const Hop hop = routing_.next_hop(node, source, destination);
        for (std::uint32_t step = 0; step < hop.count; ++step) {
            links_.push_back(routing_.link_of(hop, step));
        }
        if (hop.count > longest_run_) {
            longest_run_ = hop.count;
            run_class_ = hop.link_class;
        }
        node = hop.end;
    }
    return links_;
}

std::uint64_t MessagePaths::weight(std::uint32_t link_class, std::uint32_t messages) const {
    return transfer_time({kReferenceBytes * messages}, clocks_[link_class].rate()).ps;
}

PatternCost MessagePaths::pattern(std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs) {
    const Topology& topology = routing_.topology();
    PatternCost cost;
    std::vector<std::uint32_t> carried;
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        met;  // link of the path: its index, its number
    std::uint64_t slowest = 0;
    std::uint64_t latencies_ps = 0;
    std::uint64_t first_latency_ps = 0;
    std::uint32_t run = 1;
    for (const auto& [source, destination] : pairs) {
        std::uint64_t latency_ps = 0;
        std::uint64_t stored = 0;
        std::vector<PatternCost::Crossing> crossings;
        const auto path = links(source, destination);
        for (std::uint32_t i = 0; i < path.size(); ++i) {
            const std::uint32_t link_class = topology.link_class(path[i]);
            if (crossings.empty() || crossings.back().link_class != link_class) {
                crossings.push_back({link_class, 0});
            }
            ++crossings.back().links;
            latency_ps += topology.classes()[link_class].latency.ps;
            stored += weight(link_class, 1);
            carried.push_back(path[i]);
            met.emplace_back(i, path[i]);
        }
        if (cost.crossings.empty()) {
            cost.first_link = path.front();
            cost.first_class = topology.link_class(path.front());
        }
        latencies_ps = saturating_add(latencies_ps, latency_ps);
        if (cost.crossings.empty()) {
            first_latency_ps = latency_ps;
        } else if (latency_ps != first_latency_ps || crossings != cost.crossings) {
            cost.alike = false;
        }
        if (cost.crossings.empty() || stored > slowest) {
            slowest = stored;
            cost.crossings = std::move(crossings);
        }
        cost.one_switch = cost.one_switch && path.size() == 2;
        if (longest_run_ > run) {
            run = longest_run_;
            cost.busiest_class = run_class_;
        }
    }
    for (const PatternCost::Crossing& crossing : cost.crossings) {
        cost.stretches.push_back({clocks_[crossing.link_class].rate(), crossing.links});
    }
    cost.latency_ps = latencies_ps / pairs.size();
    const auto meeting = heaviest_run(met, [&](const auto& entry, std::uint32_t count) {
        return weight(topology.link_class(entry.second), count);
    });
    cost.meeting_class = topology.link_class(meeting.first.second);
    cost.meeting = meeting.second;
    const auto busiest = heaviest_run(carried, [&](std::uint32_t link, std::uint32_t count) {
        return weight(topology.link_class(link), count);
    });
    cost.alike = cost.alike && carried.size() % busiest.second == 0 &&
                 carried.size() / busiest.second == different(carried);
    // On rings and lines every link of a path carries the message of a member at each link of it,
    // whether or not that member was among the pairs.
    const std::uint32_t busiest_class = topology.link_class(busiest.first);
    if (run == 1 || weight(busiest_class, busiest.second) > weight(cost.busiest_class, run)) {
        cost.busiest_class = busiest_class;
        cost.load = busiest.second;
    } else {
        cost.load = run;
    }
    return cost;
}

std::uint64_t MessagePaths::busy_ps(std::uint32_t link_class, Bytes bytes) const {
    const std::array link = {Path::Stretch{clocks_[link_class].rate(), 1}};
    const Path path{link, {}};
    return backend_.alone(path, bytes).ps - backend_.alone(path, {}).ps;
}

MessagePaths::Passage MessagePaths::pass(const PatternCost& pattern,
                                         Bytes wire,
                                         std::uint64_t at_ps) {
    const Path path{pattern.stretches, {pattern.latency_ps}};
    const std::uint64_t alone_ps = backend_.alone(path, wire).ps;
    const Contention contention = backend_.contention;
    if (contention == Contention::None) {
        return {saturating_add(at_ps, alone_ps), at_ps};
    }
    const std::uint64_t loaded_ps =
        saturating_multiply(pattern.load, busy_ps(pattern.busiest_class, wire));
    if (contention == Contention::Message) {
        const std::uint64_t behind_ps =
            saturating_multiply(pattern.meeting - 1, busy_ps(pattern.meeting_class, wire));
        return {saturating_add(at_ps, saturating_add(behind_ps, alone_ps)),
                saturating_add(at_ps, std::max(loaded_ps, busy_ps(pattern.first_class, wire)))};
    }
    const std::uint64_t moving_ps =
        std::max(loaded_ps, alone_ps - std::min(alone_ps, pattern.latency_ps));
    return {saturating_add(at_ps, saturating_add(moving_ps, pattern.latency_ps)),
            saturating_add(at_ps, moving_ps)};
}

}  // namespace astra
