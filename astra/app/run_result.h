// All that a finished run has to say, in plain values; the writers and the summary read nothing
// else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "astra/core/records.h"
#include "astra/core/types.h"

namespace astra {

struct RunCounts {
    std::uint64_t ops = 0;
    std::uint64_t skipped_ops = 0;
    std::uint64_t ops_without_duration = 0;
    std::uint64_t dropped_dependencies = 0;
    std::uint64_t messages = 0;
    std::uint64_t message_bytes = 0;
    std::uint64_t events = 0;
};

struct RunResult {
    SimTime simulated;  // when the last rank finished
    std::string backend;
    bool links_are_shared = true;  // false: utilisation of links means nothing
    std::string network;           // for people
    std::string configuration;     // JSON
    std::vector<RankRecord> ranks;
    std::vector<CollectiveRecord> collectives;
    std::vector<LinkRecord> links;
    std::vector<OpRecord> ops;  // if they were recorded
    std::vector<std::string> warnings;
    RunCounts counts;
    bool write_collectives = true;
    bool write_links = true;
};

}  // namespace astra
