// All that a run has to say, in plain values; the writers and the summary read nothing
// else.
#pragma once

#include <cstdint>
#include <optional>
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
    std::uint64_t background_messages = 0;  // not among the messages
    std::uint64_t events = 0;
};

// Percentiles by nearest rank: pX is the smallest duration that at least X % of the flows do not
// exceed.
struct FlowStatistics {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    Duration makespan;    // from the first start to the last finish
    SimTime mean_finish;  // means are rounded to the nearest picosecond
    Duration least;
    Duration mean;
    Duration p50;
    Duration p90;
    Duration p99;
    Duration p999;  // 99.9 %
    Duration most;
    // Of the times over those alone; 0 where none is known.
    double slowdown_p50 = 0;
    double slowdown_p99 = 0;
    double slowdown_most = 0;
};

// The iterations of a job, and of one in steady state what scheduling made of it; docs/results.md
// has the definitions.
struct TrainingResult {
    std::string job;  // "" if it is the only one
    std::vector<IterationTimes> iterations;
    Duration steady;
    // The rest is there only where gradients are reduced:
    std::uint32_t transfers = 0;  // of an iteration
    Duration communication;       // M
    Duration computation;         // P
    double ratio = 0;             // ρ
    double overlap = 0;           // E
    double speedup_left = 0;      // S
    Duration lower_bound;
    double load_peak_to_mean = 0;
    Bytes least;  // of a transfer
    Bytes median;
    Bytes most;
};

struct RunResult {
    std::string unfinished;              // why not all ranks have finished; "" if they have
    std::uint32_t unfinished_ranks = 0;  // up to `simulated`, which they are told of
    SimTime simulated;                   // when the last rank finished
    SimTime ended;  // when nothing was on its way any more: acknowledgements outlast the ranks
    std::string backend;
    bool links_are_shared = true;  // false: utilisation of links means nothing
    bool have_work = true;         // false: no op of any rank takes time or bytes
    bool has_packets = false;      // queues, marks and losses of links mean something
    std::string network;           // for people
    std::string configuration;     // JSON
    std::vector<RankRecord> ranks;
    std::vector<CollectiveRecord> collectives;
    std::vector<LinkRecord> links;
    std::vector<DimensionRecord> dimensions;
    std::vector<TrainingResult> training;           // of jobs whose iterations are told apart
    std::vector<CommunicatorRecord> communicators;  // whose gradients are reduced
    std::vector<TransferRecord> transfers;
    std::vector<WindowRecord> windows;  // if they were recorded
    std::vector<OpRecord> ops;          // if they were recorded
    std::vector<LinkSampleRecord> link_samples;
    std::vector<FlowRecord> flows;
    std::optional<FlowStatistics> flow_statistics;  // with a flow set, or recorded messages
    std::vector<std::string> jobs;                  // names, by FlowRecord::job
    std::vector<std::string> warnings;
    RunCounts counts;
    bool write_collectives = true;
    bool write_links = true;
};

}  // namespace astra
