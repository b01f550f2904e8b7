// How a simulation ended: what is stuck, what to warn of, and the result.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "astra/simulation/flow_statistics.h"
#include "astra/simulation/simulation_parts.h"
#include "astra/simulation/training_result.h"

namespace astra {

namespace {

constexpr std::size_t kReportLines = 20;
constexpr std::size_t kListedSends = 5;

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

std::vector<DimensionRecord> dimension_records(const Topology& topology,
                                               const std::vector<LinkRecord>& links) {
    std::vector<DimensionRecord> records(topology.wirings());
    std::vector<unsigned __int128> busy_ps(records.size());
    for (const LinkRecord& link : links) {
        Bytes& bytes = records[link.dimension].bytes;
        bytes = {saturating_add(bytes.count, link.bytes.count)};
        busy_ps[link.dimension] += link.busy.ps;
    }
    for (std::uint32_t k = 0; k < records.size(); ++k) {
        DimensionRecord& record = records[k];
        record.dimension = k;
        record.topology = topology.describe_wiring(k);
        record.links = topology.links_of(k);
        if (record.links > 0) {
            record.mean_busy = {static_cast<std::uint64_t>(busy_ps[k] / record.links)};
        }
    }
    return records;
}

}  // namespace

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
    if (sampler && sampler->cut_short()) {
        warnings.add(
            fmt::format("{} early: it has {} rows; a longer "
                        "output.sample_interval makes fewer",
                        link_log ? "queues.csv ends" : "the counters of links end",
                        LinkSampler::kMostRows));
    }
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

const std::vector<TrainingReport>& Simulation::training() const {
    return parts_->training;
}

std::vector<CommunicatorRecord> Simulation::communicators() const {
    return parts_->transfers.communicators();
}

const std::string& Simulation::output_folder() const {
    return parts_->output_folder;
}

// The flow sets' in the order of their jobs and files, then what the traces sent.
std::vector<FlowRecord> Simulation::Parts::flow_records() const {
    std::vector<FlowRecord> records = flows.flow_records();
    if (messages) {
        for (FlowRecord record : messages->records()) {
            record.job = job_of[index(record.source)];
            records.push_back(record);
        }
    }
    return records;
}

void Simulation::Parts::add_training(RunResult& result) const {
    result.communicators = transfers.communicators();
    result.transfers = transfers.records();
    for (std::uint32_t job = 0; job < replayer.jobs(); ++job) {
        auto iterations = replayer.iterations(job);
        if (!iterations.empty()) {
            result.training.push_back(training_result(job,
                                                      replayer.name_of_job(job),
                                                      std::move(iterations),
                                                      result.communicators,
                                                      result.transfers));
            if (record_windows) {
                const std::uint32_t iteration =
                    typical_iteration(result.training.back().iterations);
                const auto windows = replayer.windows(job, iteration, transfers.tensor_records());
                result.windows.insert(result.windows.end(), windows.begin(), windows.end());
            }
        }
    }
}

RunResult Simulation::result() const {
    const Parts& parts = *parts_;
    const ReplayCounts& replay = parts.replayer.counts();
    RunResult result;
    result.backend = parts.backend_info.name;
    result.ended = std::max(result.simulated, parts.queue.now());
    result.has_packets = parts.backend_info.has_packets();
    result.links_are_shared = parts.backend_info.shares_links();
    result.network = parts.topology.describe();
    result.configuration = parts.study.effective_json(2);
    result.ranks = merged(parts.replayer.records(), parts.flows.rank_records());
    for (const RankRecord& rank : result.ranks) {
        result.simulated = std::max(result.simulated, rank.finish);
    }
    result.collectives = parts.collectives.records();
    result.links = parts.backend->link_records();
    result.dimensions = dimension_records(parts.topology, result.links);
    if (parts.ops) {
        result.ops = parts.ops->records();
    }
    parts.add_training(result);
    if (parts.link_log) {
        result.link_samples = parts.link_log->records();
    }
    if (parts.messages || parts.flows.flows() > 0) {
        result.flows = parts.flow_records();
        result.flow_statistics = flow_statistics(result.flows);
        result.jobs = parts.jobs;
    }
    result.warnings = parts.warnings.texts();
    // A timeline changes nothing of the result.
    const std::uint64_t unasked =
        parts.sampler && !parts.link_log ? parts.sampler->events() : std::uint64_t{0};
    result.counts = {
        replay.ops,
        replay.skipped,
        replay.without_duration,
        parts.dropped_dependencies,
        parts.collectives.messages() + parts.points.messages() + parts.flows.messages(),
        parts.collectives.bytes() + parts.points.bytes() + parts.flows.bytes(),
        parts.background ? parts.background->messages() : 0,
        parts.queue.executed() - unasked};
    result.write_collectives = parts.write_collectives;
    result.write_links = parts.write_links;
    return result;
}

}  // namespace astra
