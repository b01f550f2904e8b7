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
// compute + exposed_communication + waiting + exposed_memory + idle = finish.
struct RankRecord {
    RankId rank{};
    SimTime finish;
    Duration compute;                // GPU compute
    Duration communication;          // collectives, sends and receives, waiting included
    Duration memory;                 // remote memory accesses
    Duration exposed_communication;  // transfer while no GPU computes and nothing waits for peers
    Duration waiting;                // an op waits for a peer to come while no GPU computes
    Duration exposed_memory;         // memory while the GPU neither computes nor communicates
    Duration idle;                   // none of the three; CPU ops alone are idle
    Duration waited_for;             // waiting of other ranks for this one, a sum
};

struct CollectiveRecord {
    std::string group;
    std::uint64_t sequence = 0;  // position among the collectives of the group
    CollectiveKind kind{};
    std::string algorithm;  // one a dimension, joined by '+'
    Bytes bytes;            // as the trace gives it
    Bytes total_bytes;      // the whole buffer, by which bandwidth is reckoned
    std::uint32_t ranks = 0;
    std::uint32_t stride = 0;  // from a rank of the group to the next; 0: not always the same
    SimTime start;             // the first rank joins
    SimTime end;  // the last rank leaves; of one that has not ended: as far as the run came
    SimTime last_arrival;  // the last rank joins; with missing ranks: the last one so far
    RankId last{};         // who that was, the first to be told of those that came together
    Duration exposed{};    // of the transfer at its ranks what no GPU compute hid, a sum
    // How long its busiest link has work for it, where messages do not share links; where a time
    // was measured, or sizes are by pair, how long the links of a rank have together. 0: the
    // backend sees to it, or it is not known.
    Duration need{};
    bool ended = true;
    bool everyone_came = true;

    // Whether ranks came at different times, so that somebody waited.
    bool has_wait() const { return everyone_came && last_arrival > start; }
    Duration wait() const { return last_arrival - start; }    // of the first for the last
    Duration transfer() const { return end - last_arrival; }  // when all could take part
    // It took less than the links need: they carried more than they can.
    bool beyond_links() const { return ended && need.ps > (end - start).ps; }
};

// The ranks of a group whose gradients are reduced together in training.
struct CommunicatorRecord {
    std::uint32_t job = 0;  // in the order of the jobs that replay traces
    std::string group;
    std::uint32_t ranks = 0;
    std::uint32_t tensors = 0;  // of an iteration
    Bytes bytes;                // of them
    Duration alpha;             // a transfer of s bytes takes alpha + beta · s on an idle network
    double beta_ps = 0;         // a byte
    std::string plan;           // what the policy settled on, for people
};

// A collective on the network that reduces gradients: tensors merged, or a part of one.
struct TransferRecord {
    std::uint32_t communicator = 0;
    std::uint32_t iteration = 0;  // of its first tensor
    SimTime start;                // all members take part
    SimTime end;                  // the last member is through
    Bytes bytes;
    std::uint32_t tensors = 0;  // whole or in part
};

// What became of a gradient tensor; kept only on demand.
struct TensorRecord {
    std::uint32_t communicator = 0;
    std::uint32_t iteration = 0;
    std::uint32_t transfer = 0;  // number in the forecast of its group
    Bytes bytes;
    SimTime ready;             // the last member has its gradient
    SimTime start;             // its first byte is launched
    SimTime end;               // the last member has all of it
    std::uint32_t pieces = 0;  // launches that it was in
};

// The window of a gradient tensor in one iteration, kept only on demand. All times from the start
// of that iteration.
struct WindowRecord {
    std::uint32_t communicator = 0;
    std::uint32_t transfer = 0;
    std::string name;  // of its op
    Bytes bytes;
    std::uint32_t priority = 0;  // 0 is read first
    Duration free_start;         // as nobody waited for a transfer: its gradient is complete,
    Duration free_end;           // and its first reader in the next iteration begins
    Duration cost;               // of it alone on an idle network
    Duration ready;              // in the run
    Duration start;              // its first byte is launched
    Duration end;                // all of it is reduced
    Duration read;  // its first reader begins; the end where the run has no such reader
};

// An iteration of a job, over all of its ranks.
struct IterationTimes {
    SimTime start{kMaxPs};  // its first op begins
    SimTime end;            // its last op ends
    Duration compute;       // of the rank that computes longest: union of its GPU ops
};

// When an op ran; kept only on demand.
struct OpRecord {
    RankId rank{};
    std::uint64_t node_id = 0;
    std::string name;
    std::string_view kind;  // a name of the program's own: "compute"
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
    SimTime start;            // injected; kMaxPs if the run did not come to it
    SimTime finish;           // received whole; kMaxPs as above
    std::uint32_t job = 0;
    Duration ideal{};  // alone on its way; 0: not known

    bool has_slowdown() const { return finish.ps != kMaxPs && ideal.ps != 0; }
    double slowdown() const {
        return static_cast<double>((finish - start).ps) / static_cast<double>(ideal.ps);
    }
};

struct LinkRecord {
    std::string from;
    std::string to;
    Bytes bytes;  // on the wire: headers, control packets and what was sent again included
    Duration busy;
    std::uint32_t dimension = 0;  // of the network, as it is configured
    // What backends know that have packets:
    Bytes payload{};            // without headers and control packets
    Bytes peak_queue{};         // most data that waited at once, without the packet on the wire
    Duration paused{};          // the sender was told to wait
    std::uint32_t pauses = 0;   // how often the sender was told to pause
    std::uint32_t marks = 0;    // packets marked as having met congestion
    std::uint32_t trims = 0;    // packets that lost their payload
    std::uint32_t drops = 0;    // packets that were lost
    std::uint32_t repeats = 0;  // packets that its rank had sent before
};

// A dimension of the network, as it is configured.
struct DimensionRecord {
    std::uint32_t dimension = 0;
    std::string topology;  // "switch of 16"
    std::uint32_t links = 0;
    Bytes bytes;         // on all of its links
    Duration mean_busy;  // over all of its links, those that carried nothing included
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
    // Where there are packets, as of PacketInterval (astra/core/recorder/recorder.h):
    Bytes mean_queue;
    Bytes most_queue;
    Duration paused;
    std::uint32_t marks = 0;
    std::uint32_t trims = 0;
    std::uint32_t drops = 0;
    std::uint32_t repeats = 0;
};

}  // namespace astra
