// Makes jobs ready to be replayed: what belongs together is found, their groups and transfers
// become known to the engines, every plan that their ops need is made, and what cannot run is
// refused before anything runs.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/warnings.h"
#include "system/engine/collective_engine.h"
#include "system/model/memory_model.h"
#include "system/transfer/transfer_queue.h"
#include "workload/replay/op_requests.h"
#include "workload/replay/replay_config.h"
#include "workload/replay/replayed_job.h"

namespace astra {

class JobPreparation {
  public:
    // All outlive it.
    JobPreparation(CollectiveEngine& collectives,
                   TransferQueue& transfers,
                   const MemoryModel& memory,
                   const ReplayConfig& config,
                   bool rendezvous,
                   Warnings& warnings);

    // Appends the ranks of the job, the `number`-th, to `ranks`. Throws ConfigError or TraceError
    // on what cannot run, SimulationError on ranks that wait for each other.
    void add(ReplayedJob& job, std::uint32_t number, std::vector<ReplayedRank>& ranks);

    // Jobs so far that have gradient transfers.
    std::uint32_t jobs_with_transfers() const { return jobs_with_transfers_; }
    // The rank, of those that are replayed, that was the first to name each communicator of the
    // transfer queue.
    const std::vector<std::uint32_t>& first_ranks() const { return first_ranks_; }

  private:
    using Members = std::vector<std::vector<GroupMember>>;

    Members register_groups(const Job& job);
    void find_order(ReplayedJob& job) const;
    void prepare_collectives(const ReplayedRank& rank);
    void check_collective(const ReplayedRank& rank,
                          std::uint32_t op,
                          const CollectiveRequest& request) const;
    void register_transfers(const ReplayedRank& rank,
                            std::uint32_t rank_number,
                            std::uint32_t job_number,
                            std::vector<bool>& known);
    void check_transfers(const ReplayedRank& rank) const;
    void check_memory(const ReplayedRank& rank) const;

    CollectiveEngine& collectives_;
    TransferQueue& transfers_;
    const MemoryModel& memory_;
    const ReplayConfig& config_;
    bool rendezvous_;
    Warnings& warnings_;
    OpRequests requests_;
    std::uint32_t jobs_with_transfers_ = 0;
    std::vector<std::uint32_t> first_ranks_;
};

}  // namespace astra
