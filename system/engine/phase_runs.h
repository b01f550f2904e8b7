// The programs in execution: one for each chunk, phase and subgroup that somebody has entered.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "system/engine/collective_instance.h"
#include "system/engine/dimension_queues.h"
#include "system/plan/program_cache.h"
#include "system/run/collective_run.h"

namespace astra {

class PhaseRuns final : public ChunkStarter {
  public:
    static constexpr std::uint32_t kNoRun = 0xffffffffU;  // in CollectiveInstance::runs

    // All outlive it; `queues` of a dimension. The owner is told when a member has finished.
    PhaseRuns(RunContext& context, ProgramCache& programs, std::uint32_t queues, RunOwner& owner)
        : context_(context), programs_(programs), queues_(queues), owner_(owner) {}

    // As long as it lives, chunks that start have waited for one that depended on that arrival.
    class Behind {
      public:
        Behind(PhaseRuns& runs, const PeerArrival& arrival) : runs_(runs) {
            runs_.behind_ = arrival;
        }
        ~Behind() { runs_.behind_ = {}; }
        Behind(const Behind&) = delete;
        Behind& operator=(const Behind&) = delete;

      private:
        PhaseRuns& runs_;
    };

    void start_chunk(const ChunkAt& at) override;
    bool peers_have_come(const ChunkAt& at) const override;

    // Where a member of the run is.
    ChunkAt chunk_of(const CollectiveRun& run, std::uint32_t member) const {
        const PhaseRun& phase = runs_[static_cast<std::uint32_t>(run.id())];
        return {phase.instance, phase.dimension->position(phase.subgroup, member), phase.chunk};
    }
    // Frees a run of which nothing is to come.
    void free_if_over(const CollectiveRun& run) {
        if (run.is_over()) {
            const auto number = static_cast<std::uint32_t>(run.id());
            runs_[number].instance->runs[runs_[number].index] = kNoRun;
            free_runs_.push_back(number);
        }
    }

  private:
    struct PhaseRun {
        CollectiveRun run;
        CollectiveInstance* instance = nullptr;
        std::size_t index = 0;  // into its runs
        std::uint32_t chunk = 0;
        const ProcessGroup::Dimension* dimension = nullptr;
        std::uint32_t subgroup = 0;
    };

    static std::size_t run_index(const ChunkAt& at) {
        const CollectiveInstance& instance = *at.instance;
        const PhasePlan& phase = at.phase_plan();
        return instance.chunks[at.chunk].first_run + phase.first_run +
               instance.plan->dimension_of(phase).subgroup(at.position);
    }
    PhaseRun& open(const ChunkAt& at);
    Cause begin_span(const ChunkAt& at, const PhaseRun& run);

    RunContext& context_;
    ProgramCache& programs_;
    std::uint32_t queues_;
    RunOwner& owner_;
    std::deque<PhaseRun> runs_;  // a pool
    std::vector<std::uint32_t> free_runs_;
    PeerArrival behind_;
};

}  // namespace astra
