#include "astra/simulation/make_result.h"

#include <algorithm>
#include <utility>

#include "astra/simulation/flow_statistics.h"
#include "astra/simulation/training_result.h"

namespace astra {

namespace {

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
    std::vector<DimensionRecord> records(topology.physical_dimensions());
    std::vector<unsigned __int128> busy_ps(records.size());
    for (const LinkRecord& link : links) {
        Bytes& bytes = records[link.dimension].bytes;
        bytes = {saturating_add(bytes.count, link.bytes.count)};
        busy_ps[link.dimension] += link.busy.ps;
    }
    for (std::uint32_t k = 0; k < records.size(); ++k) {
        DimensionRecord& record = records[k];
        record.dimension = k;
        record.topology = topology.describe_dimension(k);
        record.links = topology.links_of(k);
        if (record.links > 0) {
            record.mean_busy = {static_cast<std::uint64_t>(busy_ps[k] / record.links)};
        }
    }
    return records;
}

// The iterations of each job that has some, and the windows of one of them.
void add_training(const Layers& layers, const Observers& observers, RunResult& result) {
    result.communicators = layers.transfers.communicators();
    result.transfers = layers.transfers.records();
    for (std::uint32_t job = 0; job < layers.replayer.jobs(); ++job) {
        auto iterations = layers.replayer.iterations(job);
        if (!layers.replayer.finished()) {
            iterations.resize(layers.replayer.whole_iterations(job));
        }
        if (iterations.empty()) {
            continue;
        }
        const std::uint32_t typical = typical_iteration(iterations);
        result.training.push_back(training_result(job,
                                                  layers.replayer.job(job).name,
                                                  std::move(iterations),
                                                  result.communicators,
                                                  result.transfers));
        if (!layers.replayer.finished()) {
            continue;  // the reader of a window is in the next iteration
        }
        const auto windows = observers.windows(job, typical);
        result.windows.insert(result.windows.end(), windows.begin(), windows.end());
    }
}

RunCounts counts_of(const Layers& layers, const Observers& observers) {
    const ReplayCounts& replay = layers.replayer.counts();
    RunCounts counts;
    counts.ops = layers.replayer.finished() ? replay.ops : layers.replayer.finished_ops();
    counts.skipped_ops = replay.skipped;
    counts.ops_without_duration = replay.without_duration;
    counts.dropped_dependencies = layers.dropped_dependencies;
    counts.messages =
        layers.collectives.messages() + layers.points.messages() + layers.flows.messages();
    counts.message_bytes =
        layers.collectives.bytes() + layers.points.bytes() + layers.flows.bytes();
    counts.background_messages = layers.background ? layers.background->messages() : 0;
    // A timeline changes nothing of the result.
    counts.events = layers.queue.executed() - observers.extra_events();
    return counts;
}

}  // namespace

RunResult make_result(Layers& layers, const Observers& observers, const std::string& unfinished) {
    RunResult result;
    result.unfinished = unfinished;
    result.unfinished_ranks = layers.ranks() - layers.finished_ranks();
    result.backend = layers.backend_info.name;
    result.ended = layers.queue.now();
    result.has_packets = layers.backend_info.has_packets();
    result.have_work = layers.have_work;
    result.links_are_shared = layers.backend_info.shares_links();
    result.network = layers.topology.describe();
    result.configuration = layers.study.effective_json(2);
    result.ranks = merged(layers.replayer.records(), layers.flows.rank_records());
    for (const RankRecord& rank : result.ranks) {
        result.simulated = std::max(result.simulated, rank.finish);
    }
    result.collectives = layers.collectives.records();
    result.links = layers.backend->link_records();
    if (result.has_packets) {
        // What acknowledges the last bytes is on the wire when the ranks have finished.
        for (LinkRecord& link : result.links) {
            link.busy = std::min(link.busy, Duration{result.simulated.ps});
        }
    }
    result.dimensions = dimension_records(layers.topology, result.links);
    add_training(layers, observers, result);
    // Those of the flow sets in the order of their jobs and files, then what the traces sent.
    result.flows = layers.flows.flow_records();
    observers.add_to(result);
    if (observers.has_messages() || layers.flows.flows() > 0) {
        add_ideals(layers.routing, result.has_packets, result.flows);
        result.flow_statistics = flow_statistics(result.flows);
        result.jobs = layers.jobs;
    }
    result.warnings = layers.warnings.texts();
    result.counts = counts_of(layers, observers);
    result.write_collectives = layers.output.collectives;
    result.write_links = layers.output.links;
    return result;
}

}  // namespace astra
