// The layers of a run, put together from a study: the queue and the network at the bottom, then the
// system, then the workload.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "astra/config/config_tree.h"
#include "astra/core/event_queue.h"
#include "astra/core/recorder/recorder.h"
#include "astra/core/warnings.h"
#include "astra/simulation/jobs.h"
#include "astra/simulation/simulation.h"
#include "network/backend/backend.h"
#include "network/backend/recording_backend.h"
#include "network/routing/failures.h"
#include "network/routing/routing.h"
#include "system/engine/collective_engine.h"
#include "system/engine/collective_timer.h"
#include "system/engine/engine_config.h"
#include "system/model/compute_model.h"
#include "system/model/compute_noise.h"
#include "system/model/memory_model.h"
#include "system/run/point_to_point.h"
#include "system/transfer/policy.h"
#include "system/transfer/transfer_queue.h"
#include "workload/flows/background_traffic.h"
#include "workload/flows/flow_player.h"
#include "workload/replay/replayer.h"

namespace astra {

// Keys of the section `output`.
struct OutputConfig {
    std::string directory;  // "" = none
    bool collectives = true;
    bool links = true;
    Duration sample_interval;  // above 0

    // Throws ConfigError.
    static OutputConfig from_config(const ConfigView& output);
};

// Members are built in this order and refer to the ones before.
struct Layers {
    // Reads every key and loads the workload. Throws ConfigError and TraceError. `recording`
    // says which messages are to pass through a recording backend, and whether every job is
    // searched for windows.
    // `policy` of transfers instead of the configured one; "": that.
    Layers(Study input, const Recording& recording, std::string_view policy = "");

    NetworkBackend& network() {
        return watched ? static_cast<NetworkBackend&>(*watched) : *backend;
    }
    NetworkBackend& network_of_flows() {
        return watched_flows ? static_cast<NetworkBackend&>(*watched_flows) : *backend;
    }
    std::uint32_t ranks() const { return replayer.ranks() + flows.ranks(); }
    std::uint32_t finished_ranks() const {
        return replayer.finished_ranks() + flows.finished_ranks();
    }
    bool finished() const { return replayer.finished() && flows.finished(); }

    // Each layer is told of the recorder, if somebody has subscribed to what it tells.
    void hand_out_recorder();
    // Schedules the first events.
    void start();

    ConfigTree study;
    Warnings warnings;
    EventQueue queue;
    Recorder recorder;
    Topology topology;
    const BackendInfo& backend_info;
    Routing routing;
    std::unique_ptr<NetworkBackend> backend;
    std::unique_ptr<RecordingBackend> watched;        // around the backend, for the traces; or none
    std::unique_ptr<RecordingBackend> watched_flows;  // for the flow sets; or none
    EngineConfig engine_config;
    std::unique_ptr<const ComputeModel> compute;
    ComputeNoise compute_noise;
    ReplayConfig replay_config;
    std::unique_ptr<const TransferPolicy> transfer_policy;
    CollectiveEngine collectives;
    CollectiveTimer alone;  // what transfers cost, before the run
    TransferQueue transfers;
    PointToPoint points;
    std::unique_ptr<MemoryModel> memory;
    Replayer replayer;
    FlowPlayer flows;
    OutputConfig output;
    std::optional<BackgroundTraffic> background;
    std::vector<LinkChange> failures;
    std::size_t failures_to_come = 0;
    std::vector<std::string> jobs;         // by name, those with flow sets first
    std::vector<std::uint32_t> job_of;     // by rank
    std::vector<TrainingReport> training;  // of the jobs that replay traces
    std::uint64_t dropped_dependencies = 0;
    bool have_work = false;  // an op of some rank takes time or bytes, or there is a flow

  private:
    void add_jobs(LoadedJobs loaded);
    void check_transfers() const;
    void change_link(std::uint64_t number) {
        --failures_to_come;
        backend->set_link(failures[number].link, failures[number].up);
    }
};

}  // namespace astra
