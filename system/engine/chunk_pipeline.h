// Takes the chunks of collectives through their phases: at each rank a chunk waits in a queue of
// the dimension, runs its phase there, and goes on to the next.
#pragma once

#include <cstdint>

#include "network/routing/routing.h"
#include "system/engine/collective_instance.h"
#include "system/engine/collective_release.h"
#include "system/engine/dimension_queues.h"
#include "system/engine/engine_config.h"
#include "system/engine/order_rehearsal.h"
#include "system/engine/phase_runs.h"
#include "system/plan/program_cache.h"
#include "system/run/collective_run.h"

namespace astra {

class ChunkPipeline final : private RunOwner {
  public:
    // All outlive the pipeline. `pass_younger` is there for a test (dimension_queues.h).
    ChunkPipeline(RunContext& context,
                  const Topology& topology,
                  const EngineConfig& config,
                  ProgramCache& programs,
                  CollectiveRelease& release,
                  OrderRehearsal& orders,
                  bool pass_younger);

    // Cuts a collective whose first member has come into chunks, and gives each its order of
    // dimensions; one without phases is one chunk. Throws InputError on more than can be simulated.
    void cut(CollectiveInstance& instance, CollectivePlan& plan);
    // The member's chunks come to the queues of their first phases. Requires phases.
    void enter(CollectiveInstance& instance, std::uint32_t position);

    // Chunks that have passed a younger one (dimension_queues.h).
    std::uint64_t passed() const { return queues_.passed(); }

  private:
    void member_finished(CollectiveRun& run, std::uint32_t member, bool left) override;
    void member_left(CollectiveRun& run, std::uint32_t member) override;
    void member_hears(CollectiveRun& run, std::uint32_t member, std::uint32_t sender) override;
    void member_held(CollectiveRun& run, std::uint32_t member, std::uint32_t receiver) override;
    void member_follows(CollectiveRun& run, std::uint32_t member, std::uint32_t other) override;
    void leave_if_done(CollectiveInstance& instance, std::uint32_t position);
    std::uint32_t queue_index(const ChunkAt& at) const;
    void look_at_waiting(CollectiveInstance& instance);

    RunContext& context_;
    const EngineConfig& config_;
    ProgramCache& programs_;
    CollectiveRelease& release_;
    OrderRehearsal& orders_;
    PhaseRuns runs_;
    DimensionQueues queues_;
};

}  // namespace astra
