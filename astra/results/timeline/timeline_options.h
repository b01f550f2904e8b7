// What of a run goes into its timeline.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "astra/core/types.h"

namespace astra {

struct TimelineOptions {
    struct Range {
        std::uint32_t first = 0;
        std::uint32_t last = 0;
    };
    std::string path;           // ".json" at its end: a Chrome trace
    std::vector<Range> ranks;   // empty: all
    SimTime from;               // what ends before is left out,
    SimTime until{kMaxPs - 1};  // and what begins after; the rest is shown whole
    Duration least;             // what takes less is left out

    bool shows(RankId rank) const;
    bool shows(SimTime begin, SimTime end) const {
        return end >= from && begin <= until && (end - begin).ps >= least.ps;
    }
};

// "0-3,8": as --timeline-ranks has it. Throws ConfigError.
std::vector<TimelineOptions::Range> parse_rank_ranges(std::string_view text);

}  // namespace astra
