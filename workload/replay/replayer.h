// Replays the graphs of all ranks: an op is issued to the engine of its kind when its rank's
// streams let it (rank_streams.h). Ops that take no time finish one by one in the order of their
// issue.
//
// What runs before is the business of JobPreparation, what is said of a run that cannot finish that
// of StuckReport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/records.h"
#include "astra/core/warnings.h"
#include "system/engine/collective_engine.h"
#include "system/model/compute_model.h"
#include "system/model/compute_noise.h"
#include "system/model/memory_model.h"
#include "system/run/point_to_point.h"
#include "system/transfer/transfer_queue.h"
#include "workload/record/op_times.h"
#include "workload/replay/job.h"
#include "workload/replay/job_preparation.h"
#include "workload/replay/op_requests.h"
#include "workload/replay/op_spans.h"
#include "workload/replay/replay_config.h"
#include "workload/replay/replayed_job.h"

namespace astra {

struct ReplayCounts {
    std::uint64_t ops = 0;
    std::uint64_t skipped = 0;           // INVALID nodes
    std::uint64_t without_duration = 0;  // compute ops that took no time for lack of a duration
    std::uint64_t communication_ops = 0;
};

class Replayer {
  public:
    // All outlive the replayer.
    Replayer(EventQueue& queue,
             CollectiveEngine& collectives,
             PointToPoint& points,
             MemoryModel& memory,
             TransferQueue& transfers,
             const ComputeModel& compute,
             const ComputeNoise& noise,
             const ReplayConfig& config,
             Warnings& warnings);

    // Jobs share no ranks. Registers the job's groups and makes every plan that its ops need.
    // Throws ConfigError or TraceError on what cannot run, SimulationError on ranks that wait for
    // each other.
    void add_job(Job job);

    // Jobs so far that have gradient transfers.
    std::uint32_t jobs_with_transfers() const { return preparation_.jobs_with_transfers(); }
    // The iterations of the job; empty where iterations were not looked for.
    std::vector<IterationTimes> iterations(std::uint32_t job) const {
        return jobs_[job].iterations.times();
    }
    // So many of them, the first ones, all ranks have run to their end.
    std::uint32_t whole_iterations(std::uint32_t job) const;
    const Job& job(std::uint32_t number) const { return jobs_[number].job; }
    std::uint32_t jobs() const { return static_cast<std::uint32_t>(jobs_.size()); }

    // transfer_windows.h. Requires a finished run, of whose ops `times` was told.
    std::vector<WindowRecord> windows(std::uint32_t job,
                                      std::uint32_t iteration,
                                      const OpTimes& times,
                                      const std::vector<TensorRecord>& tensors) const;

    // Tells the recorder of ops; null for none. Before start().
    void record(Recorder* recorder) { spans_.record(recorder); }

    // Schedules the first ops of every job.
    void start();

    std::uint32_t ranks() const { return static_cast<std::uint32_t>(ranks_.size()); }
    std::uint32_t finished_ranks() const { return finished_ranks_; }
    bool finished() const { return finished_ranks_ == ranks_.size(); }
    std::uint64_t finished_ops() const { return finished_ops_; }
    const ReplayCounts& counts() const { return counts_; }
    // Sorted by rank of the fabric; ranks without a job are left out. One that has not finished is
    // told of up to now.
    std::vector<RankRecord> records() const;

    // For each rank that has not finished what its unfinished ops wait for; at most `most` lines.
    std::vector<std::string> describe_stuck(std::size_t most) const;
    // An op that was held as other ranks took another order; "" if there was none.
    std::string describe_held() const;

  private:
    void start_job(std::uint64_t job);
    void start_rank(std::uint64_t rank);
    void on_done(std::uint64_t argument);
    void pump(std::uint32_t rank_number, Cause cause);
    void issue_ready(std::uint32_t rank_number);
    void begin_op(std::uint32_t rank_number, std::uint32_t op);
    // Starts an op; true if it has finished already.
    bool issue(std::uint32_t rank_number, std::uint32_t op);
    bool issue_delay(Duration time, Callback done);
    void issue_collective(const ReplayedRank& rank, std::uint32_t op, Callback done);
    void finish_op(std::uint32_t rank_number, std::uint32_t op);
    // Of an op that communicates and ends.
    PeerWait wait_of(const ReplayedRank& rank, std::uint32_t op) const;
    void pump_released(const ReplayedJob& job);
    Duration compute_time(const ReplayedRank& rank, std::uint32_t op);

    EventQueue& queue_;
    CollectiveEngine& collectives_;
    PointToPoint& points_;
    MemoryModel& memory_;
    TransferQueue& transfers_;
    const ComputeModel& compute_;
    const ComputeNoise& noise_;
    const ReplayConfig& config_;
    OpRequests requests_;
    JobPreparation preparation_;
    std::deque<ReplayedJob> jobs_;  // addresses must stay
    std::vector<ReplayedRank> ranks_;
    std::vector<std::uint32_t> instant_;  // ops of the rank at hand that took no time
    std::uint32_t finished_ranks_ = 0;
    std::uint64_t finished_ops_ = 0;
    ReplayCounts counts_;
    std::vector<Duration> waited_for_;  // by rank of the fabric
    OpSpans spans_;
};

}  // namespace astra
