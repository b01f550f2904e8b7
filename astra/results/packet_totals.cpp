#include "astra/results/packet_totals.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "astra/config/units.h"

namespace astra {

namespace {

struct PacketTotals {
    std::uint64_t pauses = 0;
    std::uint64_t marks = 0;
    std::uint64_t trims = 0;
    std::uint64_t drops = 0;
    std::uint64_t repeats = 0;
};

PacketTotals packets_of_all(const RunResult& result) {
    PacketTotals totals;
    for (const LinkRecord& link : result.links) {
        totals.pauses += link.pauses;
        totals.marks += link.marks;
        totals.trims += link.trims;
        totals.drops += link.drops;
        totals.repeats += link.repeats;
    }
    return totals;
}

}  // namespace

std::string packets_json(const RunResult& result) {
    if (!result.has_packets) {
        return "";
    }
    const PacketTotals totals = packets_of_all(result);
    return fmt::format(
        "  \"packets\": {{\"pauses\": {}, \"marks\": {}, \"trims\": {}, \"drops\": {}, "
        "\"repeats\": {}}},\n",
        totals.pauses,
        totals.marks,
        totals.trims,
        totals.drops,
        totals.repeats);
}

std::string packets_summary(const RunResult& result) {
    if (!result.has_packets || result.links.empty()) {
        return "";
    }
    const auto fullest = std::max_element(
        result.links.begin(), result.links.end(), [](const auto& a, const auto& b) {
            return a.peak_queue < b.peak_queue;
        });
    const PacketTotals totals = packets_of_all(result);
    return fmt::format(
        "longest queue    {} -> {}: {}; in all {} pauses, {} marks, {} trims, {} drops, {} packets "
        "sent again\n",
        fullest->from,
        fullest->to,
        to_text(fullest->peak_queue),
        totals.pauses,
        totals.marks,
        totals.trims,
        totals.drops,
        totals.repeats);
}

}  // namespace astra
