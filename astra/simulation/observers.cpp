#include "astra/simulation/observers.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "astra/core/check.h"
#include "astra/core/error.h"

namespace astra {

Observers::Observers(Layers& layers, const Recording& recording)
    : layers_(layers), timeline_(recording.timeline), records_windows_(recording.transfers) {
    Recorder& recorder = layers.recorder;
    const bool links_are_shared = layers.backend_info.shares_links();
    if (recording.queues) {
        if (!links_are_shared) {
            throw ConfigError(fmt::format(
                "--record=queues: the backend {} has no queues, as its messages never share a link",
                layers.backend_info.name));
        }
        recorder.subscribe_links(link_log_.emplace(layers.topology));
    }
    if (links_are_shared && (recording.queues || recording.timeline)) {
        sampler_.emplace(layers.queue,
                         *layers.backend,
                         recorder,
                         layers.output.sample_interval,
                         layers.failures_to_come);
    }
    if (recording.flows) {
        recorder.subscribe(messages_.emplace(), SpanKind::Message);
    }
    if (recording.ops) {
        recorder.subscribe(ops_.emplace(), SpanKind::Op);
    }
    if (recording.schedule || recording.transfers) {
        recorder.subscribe(times_.emplace(), SpanKind::Op);
    }
    if (recording.schedule) {
        layers.transfers.record_launches();
    }
    if (recording.transfers) {
        layers.transfers.record_tensors();
    }
}

void Observers::subscribe(SpanSubscriber& subscriber) {
    ASTRA_CHECK(timeline_, "a timeline was asked for");
    layers_.recorder.subscribe(subscriber);
}

void Observers::start() {
    if (sampler_) {
        sampler_->start();
    }
}

void Observers::warn(Warnings& warnings) const {
    if (sampler_ && sampler_->cut_short()) {
        warnings.add(
            fmt::format("{} early: it has {} rows; a longer "
                        "output.sample_interval makes fewer",
                        link_log_ ? "queues.csv ends" : "the counters of links end",
                        LinkSampler::kMostRows));
    }
}

void Observers::add_to(RunResult& result) const {
    if (ops_) {
        result.ops = ops_->records();
    }
    if (link_log_) {
        result.link_samples = link_log_->records();
    }
    if (messages_) {
        for (FlowRecord record : messages_->records()) {
            record.job = layers_.job_of[index(record.source)];
            result.flows.push_back(record);
        }
    }
}

std::vector<WindowRecord> Observers::windows(std::uint32_t job, std::uint32_t iteration) const {
    if (!records_windows_) {
        return {};
    }
    return layers_.replayer.windows(job, iteration, *times_, layers_.transfers.tensor_records());
}

std::uint64_t Observers::extra_events() const {
    return sampler_ && !link_log_ ? sampler_->events() : 0;
}

RunSchedule Observers::schedule() const {
    const Replayer& replayer = layers_.replayer;
    ASTRA_CHECK(replayer.jobs() == 1, "one job: its groups are those of the engine");
    const Job& job = replayer.job(0);
    RunSchedule schedule{job.workload, layers_.transfers.launch_records(), {}};
    std::stable_sort(schedule.launches.begin(),
                     schedule.launches.end(),
                     [](const auto& a, const auto& b) { return a.start < b.start; });
    for (const std::uint32_t rank : job.fabric_ranks) {
        schedule.ops_by_start.push_back(times_->by_start(RankId{rank}));
    }
    return schedule;
}

}  // namespace astra
