// Plays flow sets over a network: a flow is sent as soon as the one that it waits for has been
// received whole, and not before its own start.
//
// Cost: O(1) a flow beside what the network takes, no allocation. Memory: 16 bytes a flow beside
// its set, and some 100 bytes a rank.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/recorder/recorder.h"
#include "astra/core/records.h"
#include "network/backend/backend.h"
#include "workload/flows/flow_set.h"
#include "workload/record/rank_activity.h"

namespace astra {

// A flow set on some ranks of the fabric.
struct FlowJob {
    std::string name;  // "" if it is the only one
    FlowSet flows;
    std::vector<std::uint32_t> fabric_ranks;  // rank of the job -> rank of the fabric
    SimTime start;
};

class FlowPlayer {
  public:
    FlowPlayer(EventQueue& queue, NetworkBackend& network) : queue_(queue), network_(network) {}

    // Jobs share no ranks; the flows of a set are between the job's ranks. Before start().
    void add_job(FlowJob job);
    // Tells the recorder on whose behalf flows are sent; null for none. Before start().
    void record(Recorder* recorder) { recorder_ = recorder; }
    // Schedules the first flows of every job, in the order of the jobs and of their files.
    void start();

    // Ranks that send or receive at all.
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(ranks_.size()); }
    std::uint32_t finished_ranks() const { return finished_ranks_; }
    std::uint64_t flows() const { return flows_; }
    std::uint64_t finished_flows() const { return finished_flows_; }
    bool finished() const { return finished_flows_ == flows_; }
    // Sent so far.
    std::uint64_t messages() const { return messages_; }
    std::uint64_t bytes() const { return bytes_; }

    // Sorted by rank of the fabric. All that a rank does is to communicate; it finishes with its
    // last flow.
    std::vector<RankRecord> rank_records() const;
    // Every flow, in the order of the jobs and of their files; FlowRecord::job counts the jobs from
    // 0. Requires finished().
    std::vector<FlowRecord> flow_records() const;
    // What the unfinished flows wait for; at most `most` lines, those on their way first.
    std::vector<std::string> describe_stuck(std::size_t most) const;

  private:
    // Instead of a time: the flow has not got there.
    static constexpr std::uint64_t kNotYet = kMaxPs;
    static constexpr std::uint32_t kNoEntry = 0xffffffffU;

    struct Player {
        FlowJob job;
        std::vector<std::uint32_t> entry;  // rank of the job -> index into ranks_
        std::vector<std::uint64_t> start_ps;
        std::vector<std::uint64_t> finish_ps;
        std::vector<Cause> released_by;  // of flows that waited for their start; if it is recorded
    };
    struct Rank {
        std::uint32_t fabric_rank = 0;
        std::uint32_t flows_left = 0;
        RankActivity activity;
        SimTime finish;
    };

    void start_some(std::uint64_t argument);
    void start_one(std::uint64_t argument);
    void send_now(std::uint64_t argument);
    void release(std::uint32_t number, std::uint32_t flow);
    void on_delivered(std::uint64_t argument);
    void finish_at(Rank& rank);
    std::string describe(const Player& player, std::uint32_t flow) const;

    EventQueue& queue_;
    NetworkBackend& network_;
    Recorder* recorder_ = nullptr;
    std::deque<Player> players_;
    std::vector<Rank> ranks_;
    std::uint32_t finished_ranks_ = 0;
    std::uint64_t flows_ = 0;
    std::uint64_t finished_flows_ = 0;
    std::uint64_t messages_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace astra
