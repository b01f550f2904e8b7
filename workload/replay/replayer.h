// Replays the graphs of all ranks: an op is issued as soon as its parents have finished and a
// stream of its kind is free, lowest number first, or lowest ExecutionGraph::order.
//
// Streams of a rank (SystemConfig): CPU ops; GPU compute; communication, shared by collectives,
// sends and memory accesses. Receives and ops without work take no stream, nor do gradient
// transfers that wait in the transfer queue. Cost: an op is looked at
// when a parent finishes and when it is issued, never in between. Memory: 4 bytes an op and rank
// beside the shared graphs.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/records.h"
#include "astra/core/warnings.h"
#include "system/engine/collective_engine.h"
#include "system/engine/point_to_point.h"
#include "system/model/compute_model.h"
#include "system/model/memory_model.h"
#include "system/system_config.h"
#include "system/transfer/transfer_queue.h"
#include "workload/graph/execution_graph.h"
#include "workload/replay/iteration_log.h"
#include "workload/replay/rank_activity.h"

namespace astra {

// A workload on some ranks of the fabric.
struct Job {
    std::string name;  // "" if it is the only one
    Workload workload;
    std::vector<std::uint32_t> fabric_ranks;  // rank of the job -> rank of the fabric
    SimTime start;
    bool all_gather_shards =
        true;  // comm_size of all_gather, gather and scatter is one rank's part
};

struct ReplayCounts {
    std::uint64_t ops = 0;
    std::uint64_t skipped = 0;           // INVALID nodes
    std::uint64_t without_duration = 0;  // compute ops that took no time for lack of a duration
    std::uint64_t communication_ops = 0;
};

class Replayer {
  public:
    Replayer(EventQueue& queue,
             CollectiveEngine& collectives,
             PointToPoint& points,
             MemoryModel& memory,
             TransferQueue& transfers,
             const SystemConfig& config);

    // Jobs share no ranks. Registers the job's groups and makes every plan that its ops need.
    // Throws ConfigError or TraceError on what cannot run.
    void add_job(Job job);

    // Jobs so far that have gradient transfers.
    std::uint32_t jobs_with_transfers() const { return jobs_with_transfers_; }
    // Of the job; empty where iterations were not looked for.
    std::vector<IterationTimes> iterations(std::uint32_t job) const {
        return iterations_[job].times();
    }
    const std::string& name_of_job(std::uint32_t job) const { return jobs_[job].name; }
    const Workload& workload_of_job(std::uint32_t job) const { return jobs_[job].workload; }
    std::uint32_t jobs() const { return static_cast<std::uint32_t>(jobs_.size()); }

    // Keeps when each op ran, 32 bytes an op and rank. Before start().
    void record_ops() {
        record_ops_ = true;
        record_starts_ = true;
    }
    // In the order in which the ops ended.
    std::vector<OpRecord> op_records() const;
    // Of the ops that are kept, by rank: in the order in which they started.
    std::vector<std::vector<std::uint32_t>> ops_by_start() const;

    // Keeps what windows() needs, 8 bytes an op and rank. Before start().
    void record_windows() { record_starts_ = true; }
    // Of the gradient tensors of a job in an iteration, by communicator and transfer, given what
    // became of tensors. Readers are those on the rank that was the first to name the group.
    // Requires record_windows() and a finished run.
    std::vector<WindowRecord> windows(std::uint32_t job,
                                      std::uint32_t iteration,
                                      const std::vector<TensorRecord>& tensors) const;

    // Schedules the first ops of every job.
    void start();

    std::uint32_t ranks() const { return static_cast<std::uint32_t>(ranks_.size()); }
    std::uint32_t finished_ranks() const { return finished_ranks_; }
    bool finished() const { return finished_ranks_ == ranks_.size(); }
    std::uint64_t finished_ops() const { return finished_ops_; }
    const ReplayCounts& counts() const { return counts_; }
    // By rank of the fabric; ranks without a job are left out.
    std::vector<RankRecord> records() const;

    // For each rank that has not finished what its unfinished ops wait for; at most `most` lines.
    std::vector<std::string> describe_stuck(std::size_t most) const;

  private:
    enum class Stream : std::uint8_t { Cpu, Compute, Communication, None };
    static constexpr std::size_t kStreams = 4;
    // In place of a number of parents.
    static constexpr std::uint32_t kRunning = 0xfffffffeU;
    static constexpr std::uint32_t kDone = 0xffffffffU;

    struct GroupPlace {
        GroupId group{};
        std::uint32_t position = 0;
    };
    struct Rank {
        const Job* job = nullptr;
        IterationLog* iterations = nullptr;  // of the job; nullptr if it has none
        const RankTrace* trace = nullptr;
        const ExecutionGraph* graph = nullptr;
        std::uint32_t number = 0;  // in its job
        std::uint32_t fabric_rank = 0;
        std::uint32_t ops_left = 0;
        std::vector<std::uint32_t> parents_left;                 // or kRunning, kDone
        std::array<std::vector<std::uint32_t>, kStreams> ready;  // heaps, GoesLater
        std::array<std::uint32_t, kStreams> free_streams{};
        std::vector<GroupPlace> groups;  // by group role
        std::vector<SimTime> starts;     // by op, if they are recorded
        RankActivity activity;
        SimTime finish;
        bool started = false;
    };

    // Of two ready ops.
    struct GoesLater {
        const ExecutionGraph& graph;
        bool operator()(std::uint32_t a, std::uint32_t b) const {
            return graph.order.empty() || graph.order[a] == graph.order[b]
                       ? a > b
                       : graph.order[a] > graph.order[b];
        }
    };

    struct RanOp {
        std::uint32_t rank = 0;
        std::uint32_t op = 0;
        SimTime start;
        SimTime end;
    };

    std::vector<std::vector<GroupPlace>> register_groups(const Job& job);
    void prepare_ops(const Rank& rank);
    void register_transfers(const Rank& rank, std::vector<bool>& known);
    void check_transfers(const Rank& rank) const;
    void check_memory(const Rank& rank) const;
    CollectiveRequest request_for(const Rank& rank, std::uint32_t op) const;
    PointRequest point_for(const Rank& rank, std::uint32_t op) const;

    void start_job(std::uint64_t job);
    void start_rank(std::uint64_t rank);
    void on_done(std::uint64_t argument);
    void make_ready(Rank& rank, std::uint32_t op);
    void pump(std::uint32_t rank_number);
    void issue_ready(std::uint32_t rank_number);
    // Starts an op; true if it has finished already.
    bool issue(std::uint32_t rank_number, std::uint32_t op);
    bool issue_delay(Duration time, Callback done);
    void finish_op(Rank& rank, std::uint32_t op);
    Duration compute_time(const Rank& rank, std::uint32_t op);
    std::string describe_op(const Rank& rank, std::uint32_t op) const;
    bool is_transfer(const ExecutionGraph& graph, std::uint32_t op) const {
        return graph.kind[op] == OpKind::Collective &&
               graph.collectives[graph.detail[op]].transfer != kNoTransfer;
    }
    Stream stream_of(const ExecutionGraph& graph, std::uint32_t op) const;
    static Activity activity_of(const ExecutionGraph& graph, std::uint32_t op);

    EventQueue& queue_;
    CollectiveEngine& collectives_;
    PointToPoint& points_;
    MemoryModel& memory_;
    TransferQueue& transfers_;
    const SystemConfig& config_;
    ComputeModel compute_;
    std::deque<Job> jobs_;
    std::deque<IterationLog> iterations_;  // by job
    std::uint32_t jobs_with_transfers_ = 0;
    std::vector<std::uint32_t> first_ranks_;  // by communicator: who was the first to name it
    std::vector<Rank> ranks_;
    std::vector<std::uint32_t> first_rank_of_job_;
    std::vector<std::uint32_t> instant_;  // ops of the rank at hand that took no time
    std::uint32_t finished_ranks_ = 0;
    std::uint64_t finished_ops_ = 0;
    ReplayCounts counts_;
    bool record_ops_ = false;
    bool record_starts_ = false;
    std::vector<RanOp> ran_ops_;
};

}  // namespace astra
