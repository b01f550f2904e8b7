// Who listens to a run. What is recorded, and by whom, is decided here alone.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "astra/core/warnings.h"
#include "astra/simulation/layers.h"
#include "astra/simulation/op_records.h"
#include "astra/simulation/run_result.h"
#include "astra/simulation/run_schedule.h"
#include "network/backend/link_log.h"
#include "network/backend/link_sampler.h"
#include "network/backend/message_log.h"
#include "workload/record/op_times.h"

namespace astra {

class Observers {
  public:
    // Subscribes to what `recording` asks for. The layers outlive the observers. Throws
    // ConfigError where there is nothing of the kind to record.
    Observers(Layers& layers, const Recording& recording);
    Observers(const Observers&) = delete;
    Observers& operator=(const Observers&) = delete;
    ~Observers() = default;

    // Tells of everything. Requires Recording::timeline; before the run.
    void subscribe(SpanSubscriber& subscriber);

    // The first look at the links. After the layers have started.
    void start();

    // What could not be recorded. After the run, as all below.
    void warn(Warnings& warnings) const;
    // Whether the messages of traces are recorded.
    bool has_messages() const { return messages_.has_value(); }
    // Appends the ops, the messages and the link samples that were asked for.
    void add_to(RunResult& result) const;
    // The windows of the iteration of the job that replays traces; empty if none were asked for.
    std::vector<WindowRecord> windows(std::uint32_t job, std::uint32_t iteration) const;
    // Events of this run that the same one without a timeline would not have.
    std::uint64_t extra_events() const;
    // Requires Recording::schedule and a single job, of traces.
    RunSchedule schedule() const;

  private:
    Layers& layers_;
    bool timeline_;
    bool records_windows_;
    std::optional<OpRecords> ops_;        // if ops are recorded
    std::optional<OpTimes> times_;        // for windows and schedules
    std::optional<MessageLog> messages_;  // if flows are recorded
    std::optional<LinkLog> link_log_;     // if queues are recorded
    std::optional<LinkSampler> sampler_;
};

}  // namespace astra
