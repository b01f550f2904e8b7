#include "astra/simulation/layers.h"

#include <utility>

#include <fmt/format.h>

#include "network/backend/network_warnings.h"
#include "network/topology/topology_reader.h"
#include "workload/custom_collective/program_files.h"

namespace astra {

namespace {

// Only where something asks for it: the traces' messages would pass through it for nothing.
std::unique_ptr<RecordingBackend> watch(NetworkBackend& backend,
                                        const ConfigView& study,
                                        const Recording& recording) {
    if (!recording.flows && !recording.timeline && !study.has("background")) {
        return nullptr;
    }
    return std::make_unique<RecordingBackend>(backend, true);
}

// The flow sets know themselves when their messages were on their way.
std::unique_ptr<RecordingBackend> watch_flows(NetworkBackend& backend, const Recording& recording) {
    return recording.timeline ? std::make_unique<RecordingBackend>(backend, false) : nullptr;
}

std::vector<LinkChange> failures_of(const ConfigView& network,
                                    const Topology& topology,
                                    const BackendInfo& backend) {
    std::vector<LinkChange> failures = read_failures(network, topology);
    if (!failures.empty() && !backend.links_may_fail) {
        network.at("failures")
            .fail(fmt::format("the backend {} knows no links that fail during a run; those need {}",
                              backend.name,
                              backends_that(&BackendInfo::links_may_fail)));
    }
    return failures;
}

}  // namespace

OutputConfig OutputConfig::from_config(const ConfigView& output) {
    OutputConfig config;
    config.directory = output.string_or("directory", "");
    config.collectives = output.bool_or("collectives", true);
    config.links = output.bool_or("links", true);
    config.sample_interval = output.duration_or("sample_interval", {10'000'000});
    if (config.sample_interval.ps == 0) {
        output.at("sample_interval").fail("expected a time above 0");
    }
    return config;
}

Layers::Layers(Study input, const Recording& recording, std::string_view policy)
    : study(std::move(input.tree())),
      warnings(input.warnings()),
      recorder(queue),
      topology(read_topology(study.root().at("network"))),
      backend_info(read_backend(study.root().at("network"))),
      routing(read_routing(study.root().at("network"), topology, backend_info)),
      backend(backend_info.build(queue, routing, study.root().at("network"))),
      watched(watch(*backend, study.root(), recording)),
      watched_flows(watch_flows(*backend, recording)),
      engine_config(EngineConfig::from_config(
          study.root().section("system"), topology.dimensions(), ProgramFiles())),
      compute(read_compute_model(study.root().section("system"))),
      compute_noise(
          NoiseConfig::from_config(study.root().section("system").section("compute_noise"))),
      replay_config(ReplayConfig::from_config(study.root().section("system"))),
      transfer_policy(read_transfer_policy(study.root().section("system"), policy)),
      collectives(queue,
                  network(),
                  routing,
                  backend_info,
                  study.root().at("network"),
                  engine_config,
                  warnings),
      alone(topology, backend_info, study.root().at("network"), engine_config),
      transfers(queue, collectives, *transfer_policy, alone),
      points(queue, network(), engine_config.endpoint),
      memory(read_memory_model(study.root().section("memory"), topology.ranks())),
      replayer(queue,
               collectives,
               points,
               *memory,
               transfers,
               *compute,
               compute_noise,
               replay_config,
               warnings),
      flows(queue, network_of_flows()) {
    output = OutputConfig::from_config(study.root().section("output"));
    check_other_sections(backend_info, study.root().at("network"));
    warn_of_network(study, routing, backend_info, warnings);
    failures = failures_of(study.root().at("network"), topology, backend_info);
    if (const auto section = study.root().find("background")) {
        background.emplace(queue,
                           *backend,
                           BackgroundConfig::from_config(*section, topology.ranks()),
                           topology.ranks());
        if (backend_info.shares_links()) {
            if (const auto& overload = background->find_overload(routing)) {
                warnings.add("background: " + to_text(*overload) +
                             ": its messages pile up, and take more from the workload the longer "
                             "it runs");
            }
        }
    }
    JobReader reader(study.root(), topology.ranks());
    if (recording.look_for_windows) {
        reader.look_for_windows();
    }
    // Keys are judged before traces are read: a misspelt one is found at once.
    study.reject_unread();
    add_jobs(reader.load(
        {replay_config, compute.get(), engine_config.plan.measured},
        {transfer_policy->queues(), transfer_policy->barrier(), transfer_policy->compute_order()},
        warnings));
    check_transfers();
}

void Layers::add_jobs(LoadedJobs loaded) {
    training = std::move(loaded.training);
    have_work = loaded.have_work;
    job_of.resize(topology.ranks());
    const auto name_job = [&](const std::string& name, const std::vector<std::uint32_t>& ranks) {
        for (const std::uint32_t rank : ranks) {
            job_of[rank] = static_cast<std::uint32_t>(jobs.size());
        }
        jobs.push_back(name);
    };
    for (FlowJob& job : loaded.flows) {
        name_job(job.name, job.fabric_ranks);
        flows.add_job(std::move(job));
    }
    for (Job& job : loaded.traces) {
        name_job(job.name, job.fabric_ranks);
        dropped_dependencies += job.workload.dropped_dependencies;
        replayer.add_job(std::move(job));
    }
    alone.reset();
}

void Layers::check_transfers() const {
    if (!transfer_policy->queues()) {
        return;
    }
    const ConfigView policy = study.root().at("system").at("transfers").at("policy");
    if (replay_config.replay_only) {
        policy.fail("with replay_only nothing is sent, so that there are no transfers to schedule");
    }
    if (replayer.jobs_with_transfers() == 0) {
        policy.fail(
            "no gradient transfers were found in the workload, so that there is nothing to "
            "schedule; 'astra inspect windows' says why, and 'trace' replays it as recorded");
    }
}

void Layers::hand_out_recorder() {
    for (RecordingBackend* recording : {watched.get(), watched_flows.get()}) {
        if (recording != nullptr) {
            recording->record(recorder.told_of(SpanKind::Message));
        }
    }
    replayer.record(recorder.told_of(SpanKind::Op));
    collectives.record(recorder.told_of(SpanKind::Phase));
    flows.record(recorder.told_of(SpanKind::Message));
    points.record(recorder.told_of(SpanKind::Waiting));
    transfers.record(recorder.told_of(SpanKind::Transfer));
}

void Layers::start() {
    failures_to_come = failures.size();
    for (std::size_t i = 0; i < failures.size(); ++i) {
        queue.schedule_at(failures[i].at, Callback::to<&Layers::change_link>(*this, i));
    }
    replayer.start();
    flows.start();
    if (background) {
        background->start();
    }
}

}  // namespace astra
