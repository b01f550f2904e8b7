#include "astra/app/simulation.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "astra/app/flow_statistics.h"
#include "astra/app/jobs.h"
#include "astra/core/error.h"
#include "astra/core/event_queue.h"
#include "network/backend/backend.h"
#include "network/backend/recording_backend.h"
#include "network/topology/routing.h"
#include "system/collective_engine.h"
#include "system/memory_model.h"
#include "system/point_to_point.h"
#include "system/system_config.h"
#include "workload/background_traffic.h"
#include "workload/flow_player.h"
#include "workload/replayer.h"

namespace astra {

namespace {

// A slice of events is to take about this long: long enough to cost nothing, short enough for a
// person.
constexpr std::chrono::milliseconds kSliceTime{50};
constexpr std::uint64_t kFirstSlice = 64;
constexpr std::uint64_t kLongestSlice = 1U << 20;
constexpr std::size_t kReportLines = 20;
constexpr std::size_t kListedSends = 5;

const BackendInfo& choose_backend(const ConfigView& network) {
    std::vector<std::string> names;
    for (const BackendInfo* backend : backends()) {
        names.emplace_back(backend->name);
    }
    return *find_backend(network.choice_or("backend", "congestion_unaware", names));
}

std::string join_lines(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += "\n  " + line;
    }
    return text;
}

std::vector<RankRecord> merged(std::vector<RankRecord> records,
                               const std::vector<RankRecord>& more) {
    records.insert(records.end(), more.begin(), more.end());
    std::sort(records.begin(), records.end(), [](const RankRecord& a, const RankRecord& b) {
        return a.rank < b.rank;
    });
    return records;
}

// Only where something asks for it: the traces' messages would pass through it for nothing.
std::unique_ptr<RecordingBackend> watch(EventQueue& queue,
                                        NetworkBackend& backend,
                                        const ConfigView& study,
                                        const Recording& recording) {
    if (!recording.flows && !study.has("background")) {
        return nullptr;
    }
    return std::make_unique<RecordingBackend>(queue, backend, recording.flows);
}

}  // namespace

// Members are built in this order and refer to the ones before.
struct Simulation::Parts {
    ConfigTree study;
    Warnings warnings;
    EventQueue queue;
    Topology topology;
    const BackendInfo& backend_info;
    Routing routing;
    std::unique_ptr<NetworkBackend> backend;
    std::unique_ptr<RecordingBackend> watched;  // around the backend, for the traces; or none
    SystemConfig system;
    CollectiveEngine collectives;
    PointToPoint points;
    MemoryModel memory;
    Replayer replayer;
    FlowPlayer flows;
    std::optional<BackgroundTraffic> background;
    std::uint64_t moves = 0;            // of the workload, when last looked at
    std::vector<std::string> jobs;      // by name, those with flow sets first
    std::vector<std::uint32_t> job_of;  // by rank
    bool record_flows = false;
    std::string output_folder;
    bool write_collectives = true;
    bool write_links = true;
    std::uint64_t dropped_dependencies = 0;

    Parts(ConfigTree tree, const Recording& recording)
        : study(std::move(tree)),
          topology(Topology::from_config(study.root().at("network"))),
          backend_info(choose_backend(study.root().at("network"))),
          routing(read_routing(study.root().at("network"),
                               topology,
                               backend_info.usual_routing(study.root().at("network")),
                               backend_info.can_split)),
          backend(backend_info.build(queue, routing, study.root().at("network"))),
          watched(watch(queue, *backend, study.root(), recording)),
          system(SystemConfig::from_config(study.root().section("system"), topology.dimensions())),
          collectives(queue, network(), topology, system, warnings),
          points(queue, network(), system.rendezvous),
          memory(study.root().section("memory"), topology.ranks()),
          replayer(queue, collectives, points, memory, system),
          flows(queue, *backend),
          record_flows(recording.flows) {
        const ConfigView output = study.root().section("output");
        output_folder = output.string_or("directory", "");
        write_collectives = output.bool_or("collectives", true);
        write_links = output.bool_or("links", true);
        if (const auto section = study.root().find("background")) {
            background.emplace(queue,
                               *backend,
                               BackgroundConfig::from_config(*section, topology.ranks()),
                               topology.ranks());
        }
        JobReader reader(study.root(), topology.ranks());
        // Keys are judged before traces are read: a misspelt one is found at once.
        study.reject_unread();
        add_jobs(reader.load(warnings));
        if (recording.ops) {
            replayer.record_ops();
        }
    }

    NetworkBackend& network() {
        return watched ? static_cast<NetworkBackend&>(*watched) : *backend;
    }
    std::uint32_t ranks() const { return replayer.ranks() + flows.ranks(); }
    std::uint32_t finished_ranks() const {
        return replayer.finished_ranks() + flows.finished_ranks();
    }
    bool finished() const { return replayer.finished() && flows.finished(); }
    RunProgress progress() const {
        return {queue.now(), ranks(), finished_ranks(), queue.executed()};
    }
    void add_jobs(LoadedJobs loaded);
    void start();
    bool run_slice(SimTime until, std::uint64_t events);
    std::vector<FlowRecord> flow_records() const;
    void check_finished(const RunLimits& limits) const;
    void warn_of_the_run();
};

Simulation::Simulation(ConfigTree study, const Recording& recording)
    : parts_(std::make_unique<Parts>(std::move(study), recording)) {}

Simulation::~Simulation() = default;

void Simulation::Parts::add_jobs(LoadedJobs loaded) {
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
}

void Simulation::Parts::start() {
    replayer.start();
    flows.start();
    if (background) {
        background->start();
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

void Simulation::Parts::check_finished(const RunLimits& limits) const {
    if (finished()) {
        return;
    }
    const std::uint32_t stuck = ranks() - finished_ranks();
    const bool timed_out = !queue.empty() && queue.executed() < limits.max_events;
    const std::string what = queue.empty() ? "deadlock"
                             : timed_out   ? "the limit of simulated time is reached"
                                           : "the limit of events is reached";
    std::string text =
        fmt::format("cannot finish: {} at {} ps (event {}): {} of {} ranks have not finished",
                    what,
                    timed_out ? limits.until.ps : queue.now().ps,
                    queue.executed(),
                    stuck,
                    ranks());
    text += join_lines(replayer.describe_stuck(kReportLines));
    text += join_lines(flows.describe_stuck(kReportLines));
    const auto unfinished = collectives.describe_unfinished(kReportLines);
    if (!unfinished.empty()) {
        text += "\nunfinished collectives:" + join_lines(unfinished);
    }
    throw SimulationError(text);
}

void Simulation::Parts::warn_of_the_run() {
    const auto unreceived = points.unreceived();
    if (!unreceived.empty()) {
        std::string text =
            fmt::format("{} unmatched messages were sent and never received:", unreceived.size());
        for (std::size_t i = 0; i < std::min(unreceived.size(), kListedSends); ++i) {
            text += fmt::format("{} {}", i == 0 ? "" : ";", unreceived[i]);
        }
        warnings.add(text);
    }
    const ReplayCounts& counts = replayer.counts();
    if (counts.skipped > 0) {
        warnings.add(fmt::format("{} nodes of type INVALID were skipped", counts.skipped));
    }
    if (counts.without_duration > 0) {
        warnings.add(fmt::format("{} compute nodes had no duration and took no time",
                                 counts.without_duration));
    }
    if (counts.communication_ops == 0 && replayer.ranks() > 1 && flows.flows() == 0) {
        warnings.add(
            fmt::format("no communication was simulated: {} ranks, {} ops, {} of them skipped",
                        replayer.ranks(),
                        counts.ops,
                        counts.skipped));
    }
}

const Warnings& Simulation::warnings() const {
    return parts_->warnings;
}

std::uint32_t Simulation::ranks() const {
    return parts_->ranks();
}

std::uint64_t Simulation::ops() const {
    return parts_->replayer.counts().ops;
}

std::uint64_t Simulation::flows() const {
    return parts_->flows.flows();
}

const std::string& Simulation::output_folder() const {
    return parts_->output_folder;
}

// The flow sets' in the order of their jobs and files, then what the traces sent.
std::vector<FlowRecord> Simulation::Parts::flow_records() const {
    std::vector<FlowRecord> records = flows.flow_records();
    if (record_flows) {
        for (FlowRecord record : watched->flow_records()) {
            record.job = job_of[index(record.source)];
            records.push_back(record);
        }
    }
    return records;
}

RunResult Simulation::result() const {
    const Parts& parts = *parts_;
    const ReplayCounts& replay = parts.replayer.counts();
    RunResult result;
    result.backend = parts.backend_info.name;
    result.links_are_shared = parts.backend_info.shares_links;
    result.network = parts.topology.describe();
    result.configuration = parts.study.effective_json(2);
    result.ranks = merged(parts.replayer.records(), parts.flows.rank_records());
    for (const RankRecord& rank : result.ranks) {
        result.simulated = std::max(result.simulated, rank.finish);
    }
    result.collectives = parts.collectives.records();
    result.links = parts.backend->link_records();
    result.ops = parts.replayer.op_records();
    if (parts.record_flows || parts.flows.flows() > 0) {
        result.flows = parts.flow_records();
        result.flow_statistics = flow_statistics(result.flows);
        result.jobs = parts.jobs;
    }
    result.warnings = parts.warnings.texts();
    result.counts = {
        replay.ops,
        replay.skipped,
        replay.without_duration,
        parts.dropped_dependencies,
        parts.collectives.messages() + parts.points.messages() + parts.flows.messages(),
        parts.collectives.bytes() + parts.points.bytes() + parts.flows.bytes(),
        parts.background ? parts.background->messages() : 0,
        parts.queue.executed()};
    result.write_collectives = parts.write_collectives;
    result.write_links = parts.write_links;
    return result;
}

}  // namespace astra
