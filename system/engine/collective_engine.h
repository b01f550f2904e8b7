// Runs collectives: matches what the ranks of a group ask for by order, cuts them into chunks,
// takes every chunk through the phases of the group's plan, and runs the programs message by
// message.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/records.h"
#include "astra/core/warnings.h"
#include "network/backend/backend.h"
#include "system/engine/collective_instance.h"
#include "system/engine/dimension_queues.h"
#include "system/engine/engine_config.h"
#include "system/plan/collective_plan.h"
#include "system/plan/dimension_order.h"
#include "system/plan/process_group.h"
#include "system/run/collective_run.h"
#include "system/tuning/tuner.h"

namespace astra {

class CollectiveEngine final : private RunOwner, private ChunkStarter, private PhaseLoads {
  public:
    // All references outlive the engine. `pass_younger` is there for a test (dimension_queues.h).
    CollectiveEngine(EventQueue& queue,
                     NetworkBackend& network,
                     Routing& routing,
                     const BackendInfo& backend,
                     const ConfigView& network_keys,
                     const EngineConfig& config,
                     Warnings& warnings,
                     bool pass_younger = true);

    GroupId add_group(std::string name, std::vector<std::uint32_t> ranks);
    const ProcessGroup& group(GroupId id) const { return *groups_[index(id)].group; }

    // Makes the plan, so that what cannot run is said before anything runs. Throws ConfigError.
    void prepare(GroupId id, const CollectiveRequest& request);

    // The time of collectives that are not simulated message by message; nullptr of others.
    const MeasuredTime* measured(GroupId id, const CollectiveRequest& like) {
        return plan_for(groups_[index(id)], like).measured;
    }

    // CollectiveRequest::node_algorithm of a node of a trace.
    std::uint32_t node_algorithm(std::uint64_t node_id) const {
        return config_.plan.algorithms.number_of_node(node_id);
    }

    // The rank at `position` of the group comes to its next collective; `done` runs when it has
    // finished its part. Throws InputError when it asks for another kind or size than the others.
    void join(GroupId id, std::uint32_t position, const CollectiveRequest& request, Callback done);

    // Tells the recorder of the phases of chunks and of waiting; null for none. Before the run.
    void record(Recorder* recorder) { context_.recorder = recorder; }

    // Finished collectives, in the order in which they ended.
    std::vector<CollectiveRecord> records() const;
    std::uint64_t messages() const { return context_.messages; }
    std::uint64_t bytes() const { return context_.bytes; }
    std::uint64_t passed() const { return queues_.passed(); }

    // For the report of an unfinished run: what the collective waits for that `position` is in, and
    // every unfinished one, oldest first: "group 'x', collective 3 (all_reduce of 8 B): …".
    std::string describe_waiting(GroupId id, std::uint32_t position) const;
    std::vector<std::string> describe_unfinished(std::size_t most) const;

  private:
    // In place of an instance that has ended before an older one.
    static constexpr std::uint32_t kClosed = 0xffffffffU;

    struct Group {
        std::unique_ptr<ProcessGroup> group;
        std::vector<std::uint64_t> joined;  // collectives so far, by position
        std::deque<std::uint32_t> open;     // instances from `first_open` on
        std::uint64_t first_open = 0;
        // By key and, where the choice depends on it, size.
        std::map<std::pair<PlanKey, std::uint64_t>, std::unique_ptr<CollectivePlan>> plans;
    };
    struct RunSlot {
        CollectiveRun run;
        CollectiveInstance* instance = nullptr;
        std::uint32_t chunk = 0;
        const ProcessGroup::Digit* digit = nullptr;
        std::uint32_t subgroup = 0;
    };
    struct ProgramKey {
        const void* origin = nullptr;  // the algorithm or the source
        ProgramShape shape;
        Bytes size;                        // its class, if the program is for it alone
        std::vector<std::uint32_t> ranks;  // if the program is for them alone
        bool operator<(const ProgramKey& other) const {
            return std::tie(origin, shape, size, ranks) <
                   std::tie(other.origin, other.shape, other.size, other.ranks);
        }
    };
    struct Finished {
        const CollectivePlan* plan = nullptr;
        std::uint64_t sequence = 0;
        Bytes bytes;
        Bytes total;
        SimTime start;
        SimTime end;
    };

    void member_finished(CollectiveRun& run, std::uint32_t member) override;
    void start_chunk(const ChunkAt& chunk) override;
    bool peers_have_come(const ChunkAt& chunk) const override;
    const PhaseLoad& of(CollectivePlan& plan, const PhasePlan& phase, Bytes size) override;

    // The one place where the plan of a request is chosen.
    CollectivePlan& plan_for(Group& group, const CollectiveRequest& request);
    Duration measured_time(const CollectiveInstance& instance) const;
    CollectiveInstance& instance_for(Group& group,
                                     std::uint32_t position,
                                     const CollectiveRequest& request);
    // Cuts the collective into chunks, and gives each its order of dimensions.
    void cut(CollectiveInstance& instance, CollectivePlan& plan);
    void add_pairs(CollectiveInstance& instance,
                   std::uint32_t position,
                   const CollectiveRequest& request) const;
    void check_same(const CollectiveInstance& instance,
                    std::uint32_t rank,
                    const CollectiveRequest& request) const;
    std::uint32_t queue_of(const CollectiveInstance& instance,
                           std::uint32_t phase,
                           std::uint32_t chunk) const;
    std::uint32_t queue_index(const ChunkAt& chunk) const;
    std::size_t run_index(const ChunkAt& chunk) const;
    RunSlot& open_run(const ChunkAt& chunk);
    const Program& program_for(const CollectivePlan& plan,
                               const PhasePlan& phase,
                               std::uint32_t chunk,
                               bool reversed,
                               const std::vector<std::uint32_t>& ranks,
                               Bytes size);
    Cause begin_phase(const ChunkAt& at, const RunSlot& slot);
    void record_waiting(const CollectiveInstance& instance, std::uint32_t last);
    void leave_at_once(std::uint64_t argument);
    void leave(CollectiveInstance& instance, std::uint32_t position);
    void close(CollectiveInstance& instance);
    std::string describe(const CollectiveInstance& instance) const;

    EventQueue& queue_;
    Routing& routing_;
    const EngineConfig& config_;
    Warnings& warnings_;
    Tuner tuner_;
    RunContext context_;
    DimensionQueues queues_;
    std::vector<Group> groups_;
    std::deque<CollectiveInstance> instances_;  // a pool: addresses must stay
    std::vector<std::uint32_t> free_instances_;
    std::uint64_t created_ = 0;
    std::deque<RunSlot> runs_;  // a pool
    std::vector<std::uint32_t> free_runs_;
    std::map<ProgramKey, std::unique_ptr<const Program>> programs_;  // looked up, never walked
    std::vector<Finished> finished_;
};

}  // namespace astra
