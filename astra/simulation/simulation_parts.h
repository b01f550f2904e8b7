// The layers of a simulation; known to its own sources alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "astra/config/config_tree.h"
#include "astra/core/event_queue.h"
#include "astra/core/recorder/recorder.h"
#include "astra/simulation/jobs.h"
#include "astra/simulation/op_records.h"
#include "astra/simulation/simulation.h"
#include "network/backend/backend.h"
#include "network/backend/link_log.h"
#include "network/backend/link_sampler.h"
#include "network/backend/message_log.h"
#include "network/backend/recording_backend.h"
#include "network/routing/failures.h"
#include "network/routing/routing.h"
#include "system/engine/collective_engine.h"
#include "system/engine/collective_timer.h"
#include "system/engine/engine_config.h"
#include "system/engine/point_to_point.h"
#include "system/model/compute_model.h"
#include "system/model/compute_noise.h"
#include "system/model/memory_model.h"
#include "system/transfer/policy.h"
#include "system/transfer/transfer_queue.h"
#include "workload/flows/background_traffic.h"
#include "workload/flows/flow_player.h"
#include "workload/replay/replayer.h"

namespace astra {

// Members are built in this order and refer to the ones before.
struct Simulation::Parts {
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
    std::optional<BackgroundTraffic> background;
    std::uint64_t moves = 0;               // of the workload, when last looked at
    std::vector<std::string> jobs;         // by name, those with flow sets first
    std::vector<std::uint32_t> job_of;     // by rank
    std::vector<TrainingReport> training;  // of the jobs that replay traces
    std::optional<LinkSampler> sampler;
    std::optional<OpRecords> ops;        // if ops are recorded
    std::optional<MessageLog> messages;  // if flows are recorded
    std::optional<LinkLog> link_log;     // if queues are recorded
    std::vector<LinkChange> failures;
    std::size_t failures_to_come = 0;
    bool record_windows = false;
    std::string output_folder;
    bool write_collectives = true;
    bool write_links = true;
    std::uint64_t dropped_dependencies = 0;

    Parts(Study input, const Recording& recording);

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
    RunProgress progress() const {
        return {queue.now(), ranks(), finished_ranks(), queue.executed()};
    }
    void check_transfers() const;
    void read_failures_of(const ConfigView& network_view);
    void read_sampling(const ConfigView& output, const Recording& recording);
    void hand_out_recorder();
    void change_link(std::uint64_t number) {
        --failures_to_come;
        backend->set_link(failures[number].link, failures[number].up);
    }
    void add_jobs(LoadedJobs loaded);
    void start();
    bool run_slice(SimTime until, std::uint64_t events);
    std::vector<FlowRecord> flow_records() const;
    void add_training(RunResult& result) const;
    void check_finished(const RunLimits& limits) const;
    void warn_of_the_run();
};

}  // namespace astra
