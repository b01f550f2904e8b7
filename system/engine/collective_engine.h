// Runs collectives: joins what the ranks of a group ask for under a number, cuts it into chunks,
// takes every chunk through the phases of the group's plan, and runs the programs message by
// message. Each of these is the business of a class; this one puts them together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/records.h"
#include "astra/core/warnings.h"
#include "network/backend/backend.h"
#include "system/engine/chunk_pipeline.h"
#include "system/engine/collective_instance.h"
#include "system/engine/collective_matching.h"
#include "system/engine/collective_release.h"
#include "system/engine/collective_report.h"
#include "system/engine/engine_config.h"
#include "system/plan/plan_cache.h"
#include "system/plan/process_group.h"
#include "system/plan/program_cache.h"
#include "system/run/collective_run.h"
#include "system/tuning/tuner.h"

namespace astra {

class CollectiveEngine {
  public:
    struct Options {
        bool pass_younger = true;  // false is there for a test (dimension_queues.h)
        const DimensionOrder* only_order = nullptr;  // of all collectives, whatever is configured
    };
    // All references outlive the engine.
    CollectiveEngine(EventQueue& queue,
                     NetworkBackend& network,
                     Routing& routing,
                     const BackendInfo& backend,
                     const ConfigView& network_keys,
                     const EngineConfig& config,
                     Warnings& warnings,
                     const Options& options);
    CollectiveEngine(EventQueue& queue,
                     NetworkBackend& network,
                     Routing& routing,
                     const BackendInfo& backend,
                     const ConfigView& network_keys,
                     const EngineConfig& config,
                     Warnings& warnings)
        : CollectiveEngine(
              queue, network, routing, backend, network_keys, config, warnings, Options{}) {}

    GroupId add_group(std::string name, std::vector<std::uint32_t> ranks);
    const ProcessGroup& group(GroupId id) const { return *groups_[index(id)]; }

    // Makes the plan, so that what cannot run is said before anything runs. Throws ConfigError.
    void prepare(GroupId id, const CollectiveRequest& request) { plan_for(group(id), request); }

    // The time of collectives that are not simulated message by message; nullptr of others.
    const MeasuredTime* measured(GroupId id, const CollectiveRequest& like) {
        return plan_for(group(id), like).measured;
    }

    // CollectiveRequest::node_algorithm of a node of a trace.
    std::uint32_t node_algorithm(std::uint64_t node_id) const {
        return config_.plan.algorithms.number_of_node(node_id);
    }

    // The rank at `position` of the group comes to the collective with the number
    // request.sequence, once; `done` runs when it has finished its part. Throws InputError when it
    // asks for another kind or size than the others.
    void join(GroupId id, std::uint32_t position, const CollectiveRequest& request, Callback done);

    // Tells the recorder of the phases of chunks and of waiting; null for none. Before the run.
    void record(Recorder* recorder) { context_.recorder = recorder; }

    // As in CollectiveRelease.
    std::vector<CollectiveRecord> records() const { return release_.records(); }
    // As in CollectiveRelease.
    const PeerWait& wait() const { return release_.wait(); }
    void add_exposed(Duration time) { release_.add_exposed(time); }
    void add_unfinished(std::vector<UnfinishedWait>& waits) const {
        release_.add_unfinished(waits);
    }
    std::uint64_t messages() const { return context_.messages; }
    std::uint64_t bytes() const { return context_.bytes; }
    std::uint64_t passed() const { return pipeline_.passed(); }

    // For the report of an unfinished run: what the collective waits for that `position` is in, and
    // every unfinished one, oldest first.
    std::string describe_waiting(GroupId id, std::uint32_t position) const {
        return CollectiveReport(matching_).waiting(group(id), position);
    }
    std::vector<std::string> describe_unfinished(std::size_t most) const {
        return CollectiveReport(matching_).unfinished(most);
    }

  private:
    CollectivePlan& plan_for(const ProcessGroup& group, const CollectiveRequest& request) {
        return plans_.plan(group, request.plan_key(), request.size());
    }
    // The first member has come: decides how the collective runs.
    void begin(CollectiveInstance& instance);
    Duration measured_time(const CollectiveInstance& instance) const;
    void record_waiting(const CollectiveInstance& instance, std::uint32_t last);

    const EngineConfig& config_;
    const Topology& topology_;
    Tuner tuner_;
    RunContext context_;
    std::vector<std::unique_ptr<ProcessGroup>> groups_;
    PlanCache plans_;
    ProgramCache programs_;
    CollectiveMatching matching_;
    LinkNeed need_;
    CollectiveRelease release_;
    OrderRehearsal orders_;
    ChunkPipeline pipeline_;
};

}  // namespace astra
