#include "astra/simulation/simulation.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "astra/config/config_tree.h"
#include "astra/core/check.h"
#include "astra/core/error.h"
#include "astra/simulation/simulation_parts.h"
#include "network/topology/topology_reader.h"
#include "workload/custom_collective/program_files.h"

namespace astra {

namespace {

// A slice of events is to take about this long: long enough to cost nothing, short enough for a
// person.
constexpr std::chrono::milliseconds kSliceTime{50};
constexpr std::uint64_t kFirstSlice = 64;
constexpr std::uint64_t kLongestSlice = 1U << 20;

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

}  // namespace

Simulation::Parts::Parts(Study input, const Recording& recording)
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
      transfer_policy(read_transfer_policy(study.root().section("system"))),
      collectives(queue,
                  network(),
                  routing,
                  backend_info,
                  study.root().at("network"),
                  engine_config,
                  warnings),
      alone(topology, backend_info, study.root().at("network"), engine_config),
      transfers(queue, collectives, *transfer_policy, alone),
      points(queue, network(), engine_config.endpoint.rendezvous),
      memory(read_memory_model(study.root().section("memory"), topology.ranks())),
      replayer(
          queue, collectives, points, *memory, transfers, *compute, compute_noise, replay_config),
      flows(queue, network_of_flows()) {
    const ConfigView output = study.root().section("output");
    output_folder = output.string_or("directory", "");
    write_collectives = output.bool_or("collectives", true);
    write_links = output.bool_or("links", true);
    check_other_sections(backend_info, study.root().at("network"));
    read_failures_of(study.root().at("network"));
    read_sampling(output, recording);
    if (recording.flows) {
        recorder.subscribe(messages.emplace(), SpanKind::Message);
    }
    if (const auto section = study.root().find("background")) {
        background.emplace(queue,
                           *backend,
                           BackgroundConfig::from_config(*section, topology.ranks()),
                           topology.ranks());
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
    if (recording.ops) {
        recorder.subscribe(ops.emplace(), SpanKind::Op);
    }
    if (recording.schedule) {
        replayer.record_ops();
        transfers.record_launches();
    }
    if (recording.transfers) {
        record_windows = true;
        replayer.record_windows();
        transfers.record_tensors();
    }
}

Simulation::Simulation(Study study, const Recording& recording)
    : parts_(std::make_unique<Parts>(std::move(study), recording)) {}

Simulation::~Simulation() = default;

void Simulation::Parts::check_transfers() const {
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

void Simulation::Parts::add_jobs(LoadedJobs loaded) {
    training = std::move(loaded.training);
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

void Simulation::Parts::read_failures_of(const ConfigView& network_view) {
    failures = read_failures(network_view, topology);
    if (!failures.empty() && !backend_info.links_may_fail) {
        network_view.at("failures")
            .fail(fmt::format("the backend {} knows no links that fail during a run; those need {}",
                              backend_info.name,
                              backends_that(&BackendInfo::links_may_fail)));
    }
}

void Simulation::Parts::read_sampling(const ConfigView& output, const Recording& recording) {
    const Duration interval = output.duration_or("sample_interval", {10'000'000});
    if (interval.ps == 0) {
        output.at("sample_interval").fail("expected a time above 0");
    }
    if (recording.queues && !backend_info.shares_links()) {
        throw ConfigError(fmt::format(
            "--record=queues: the backend {} has no queues, as its messages never share a link",
            backend_info.name));
    }
    if (recording.queues) {
        recorder.subscribe_links(link_log.emplace(topology));
    }
    if (backend_info.shares_links() && (recording.queues || recording.timeline)) {
        sampler.emplace(queue, *backend, recorder, interval, failures_to_come);
    }
}

void Simulation::Parts::hand_out_recorder() {
    for (RecordingBackend* recording : {watched.get(), watched_flows.get()}) {
        if (recording != nullptr) {
            recording->record(recorder.told_of(SpanKind::Message));
        }
    }
    replayer.record(recorder.told_of(SpanKind::Op));
    collectives.record(recorder.told_of(SpanKind::Phase));
    points.record(recorder.told_of(SpanKind::Waiting));
    transfers.record(recorder.told_of(SpanKind::Transfer));
}

void Simulation::subscribe(SpanSubscriber& subscriber) {
    ASTRA_CHECK(parts_->watched_flows != nullptr, "a timeline was asked for");
    parts_->recorder.subscribe(subscriber);
}

std::uint32_t Simulation::fabric_ranks() const {
    return parts_->topology.ranks();
}

std::string Simulation::link_name(std::uint32_t link) const {
    const LinkEnds ends = parts_->topology.link_ends(link);
    return parts_->topology.node_name(ends.from) + " -> " + parts_->topology.node_name(ends.to);
}

void Simulation::Parts::start() {
    hand_out_recorder();
    failures_to_come = failures.size();
    for (std::size_t i = 0; i < failures.size(); ++i) {
        queue.schedule_at(failures[i].at, Callback::to<&Parts::change_link>(*this, i));
    }
    replayer.start();
    flows.start();
    if (background) {
        background->start();
    }
    if (sampler) {
        sampler->start();
    }
}

// Background traffic would go on for ever: with it, events are run one by one, so that the run ends
// with the event that ends the workload.
bool Simulation::Parts::run_slice(SimTime until, std::uint64_t events) {
    if (!background) {
        return queue.run_until(until, events);
    }
    for (; events > 0 && !finished(); --events) {
        const std::uint64_t before = queue.executed();
        if (!queue.run_until(until, 1) || queue.executed() == before) {
            break;
        }
        const std::uint64_t moved =
            replayer.finished_ops() + watched->delivered() + flows.finished_flows();
        if (moved != moves) {
            moves = moved;
            background->workload_moved();
        }
    }
    return !queue.empty();
}

bool Simulation::run(const RunLimits& limits, const Watcher& watcher) {
    EventQueue& queue = parts_->queue;
    parts_->start();
    std::uint64_t length = kFirstSlice;
    while (queue.executed() < limits.max_events) {
        const std::uint64_t before = queue.executed();
        const std::uint64_t slice = std::min(length, limits.max_events - before);
        const auto start = std::chrono::steady_clock::now();
        const bool more = parts_->run_slice(limits.until, slice);
        if (std::chrono::steady_clock::now() - start < kSliceTime) {
            length = std::min(2 * length, kLongestSlice);
        } else {
            length = std::max<std::uint64_t>(length / 2, 1);
        }
        if (watcher && !watcher(parts_->progress())) {
            return false;
        }
        if (!more || queue.executed() - before < slice) {
            break;  // nothing left, or nothing before the time limit
        }
    }
    parts_->check_finished(limits);
    parts_->warn_of_the_run();
    return true;
}

RunResult simulate(Study study, const RunLimits& limits) {
    Simulation simulation(std::move(study));
    simulation.run(limits);
    return simulation.result();
}

}  // namespace astra
