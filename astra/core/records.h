// What a run leaves behind, as plain values that the app writes to files. All times are absolute or
// lengths in picoseconds, all sizes bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "astra/core/types.h"

namespace astra {

// Times are lengths of unions of intervals, never sums:
// compute + exposed_communication + exposed_memory + idle = finish.
struct RankRecord {
    RankId rank{};
    SimTime finish;
    Duration compute;                // GPU compute
    Duration communication;          // collectives, sends and receives, waiting included
    Duration memory;                 // remote memory accesses
    Duration exposed_communication;  // communication while no GPU computes
    Duration exposed_memory;         // memory while the GPU neither computes nor communicates
    Duration idle;                   // none of the three; CPU ops alone are idle
};

struct CollectiveRecord {
    std::string group;
    std::uint64_t sequence = 0;  // position among the collectives of the group
    CollectiveKind kind{};
    std::string algorithm;  // one a dimension, joined by '+'
    Bytes bytes;            // as the trace gives it
    Bytes total_bytes;      // the whole buffer, by which bandwidth is reckoned
    std::uint32_t ranks = 0;
    SimTime start;  // the first rank joins
    SimTime end;    // the last rank leaves
};

// When an op ran; kept only on demand.
struct OpRecord {
    RankId rank{};
    std::uint64_t node_id = 0;
    std::string_view name;  // of the graph, which outlives the record
    std::string_view kind;
    SimTime start;
    SimTime end;
};

// A message of a flow set, or any message where they are recorded.
struct FlowRecord {
    std::uint64_t id = 0;  // unique in its job
    RankId source{};
    RankId destination{};
    Bytes bytes;
    std::uint64_t after = 0;  // the flow that it waited for; 0 = none
    SimTime start;            // injected
    SimTime finish;           // received whole
    std::uint32_t job = 0;
};

struct LinkRecord {
    std::string from;
    std::string to;
    Bytes bytes;  // on the wire: headers, control packets and what was sent again included
    Duration busy;
    // Of backends that know packets:
    Bytes payload{};           // without headers and control packets
    Bytes peak_queue{};        // most data that waited at once, without the packet on the wire
    std::uint32_t pauses = 0;  // how often the sender was told to pause
    std::uint32_t marks = 0;   // packets marked as having met congestion
    std::uint32_t trims = 0;   // packets that lost their payload
    std::uint32_t drops = 0;   // packets that were lost
};

// What a link did in one interval of a time series.
struct LinkSampleRecord {
    SimTime end;  // of the interval
    Duration interval;
    std::string from;
    std::string to;
    Bytes bytes;
    Bandwidth capacity;
    Bytes queued;  // at the end
};

}  // namespace astra
