#include "astra/app/simulation.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "astra/app/jobs.h"
#include "astra/core/error.h"
#include "astra/core/event_queue.h"
#include "network/backend/backend.h"
#include "network/topology/routing.h"
#include "system/collective_engine.h"
#include "system/memory_model.h"
#include "system/point_to_point.h"
#include "system/system_config.h"
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
    SystemConfig system;
    CollectiveEngine collectives;
    PointToPoint points;
    MemoryModel memory;
    Replayer replayer;
    std::string output_folder;
    bool write_collectives = true;
    bool write_links = true;
    std::uint64_t dropped_dependencies = 0;

    explicit Parts(ConfigTree tree)
        : study(std::move(tree)),
          topology(Topology::from_config(study.root().at("network"))),
          backend_info(choose_backend(study.root().at("network"))),
          routing(read_routing(study.root().at("network"),
                               topology,
                               backend_info.usual_routing(study.root().at("network")),
                               backend_info.can_split)),
          backend(backend_info.build(queue, routing, study.root().at("network"))),
          system(SystemConfig::from_config(study.root().section("system"), topology.dimensions())),
          collectives(queue, *backend, topology, system, warnings),
          points(queue, *backend, system.rendezvous),
          memory(study.root().section("memory"), topology.ranks()),
          replayer(queue, collectives, points, memory, system) {
        const ConfigView output = study.root().section("output");
        output_folder = output.string_or("directory", "");
        write_collectives = output.bool_or("collectives", true);
        write_links = output.bool_or("links", true);
        JobReader jobs(study.root(), topology.ranks());
        // Keys are judged before traces are read: a misspelt one is found at once.
        study.reject_unread();
        for (Job& job : jobs.load(warnings)) {
            dropped_dependencies += job.workload.dropped_dependencies;
            replayer.add_job(std::move(job));
        }
    }

    RunProgress progress() const {
        return {queue.now(), replayer.ranks(), replayer.finished_ranks(), queue.executed()};
    }
    void check_finished(const RunLimits& limits) const;
    void warn_of_the_run();
};

Simulation::Simulation(ConfigTree study) : parts_(std::make_unique<Parts>(std::move(study))) {}

Simulation::~Simulation() = default;

bool Simulation::run(const RunLimits& limits, const Watcher& watcher) {
    EventQueue& queue = parts_->queue;
    parts_->replayer.start();
    std::uint64_t length = kFirstSlice;
    while (queue.executed() < limits.max_events) {
        const std::uint64_t before = queue.executed();
        const std::uint64_t slice = std::min(length, limits.max_events - before);
        const auto start = std::chrono::steady_clock::now();
        const bool more = queue.run_until(limits.until, slice);
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
    if (replayer.finished()) {
        return;
    }
    const std::uint32_t stuck = replayer.ranks() - replayer.finished_ranks();
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
                    replayer.ranks());
    text += join_lines(replayer.describe_stuck(kReportLines));
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
    if (counts.communication_ops == 0 && replayer.ranks() > 1) {
        warnings.add(
            fmt::format("no communication was simulated: {} ranks, {} ops, {} of them skipped",
                        replayer.ranks(),
                        counts.ops,
                        counts.skipped));
    }
}

void Simulation::record_ops() {
    parts_->replayer.record_ops();
}

const Warnings& Simulation::warnings() const {
    return parts_->warnings;
}

std::uint32_t Simulation::ranks() const {
    return parts_->replayer.ranks();
}

std::uint64_t Simulation::ops() const {
    return parts_->replayer.counts().ops;
}

const std::string& Simulation::output_folder() const {
    return parts_->output_folder;
}

RunResult Simulation::result() const {
    const Parts& parts = *parts_;
    const ReplayCounts& replay = parts.replayer.counts();
    RunResult result;
    result.backend = parts.backend_info.name;
    result.links_are_shared = parts.backend_info.shares_links;
    result.network = parts.topology.describe();
    result.configuration = parts.study.effective_json(2);
    result.ranks = parts.replayer.records();
    for (const RankRecord& rank : result.ranks) {
        result.simulated = std::max(result.simulated, rank.finish);
    }
    result.collectives = parts.collectives.records();
    result.links = parts.backend->link_records();
    result.ops = parts.replayer.op_records();
    result.warnings = parts.warnings.texts();
    result.counts = {replay.ops,
                     replay.skipped,
                     replay.without_duration,
                     parts.dropped_dependencies,
                     parts.collectives.messages() + parts.points.messages(),
                     parts.collectives.bytes() + parts.points.bytes(),
                     parts.queue.executed()};
    result.write_collectives = parts.write_collectives;
    result.write_links = parts.write_links;
    return result;
}

}  // namespace astra
