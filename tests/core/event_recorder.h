// The event queue and a plain reference, driven by the same events, for comparison.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "astra/core/event_queue.h"

namespace astra {

struct Run {
    std::uint64_t when_ps = 0;
    std::uint64_t id = 0;
    bool operator==(const Run&) const = default;
};

// The contract of the queue, in the plainest form: a multimap keeps equal keys in order of
// insertion.
class ReferenceQueue {
  public:
    std::uint64_t now_ps() const { return now_ps_; }
    std::size_t size() const { return events_.size(); }
    void schedule(std::uint64_t when_ps, std::uint64_t id) { events_.emplace(when_ps, id); }

    template <class Handler>
    void run_until(std::uint64_t limit_ps, Handler&& handler) {
        while (!events_.empty() && events_.begin()->first <= limit_ps) {
            const auto [when_ps, id] = *events_.begin();
            events_.erase(events_.begin());
            now_ps_ = when_ps;
            handler(id);
        }
    }

  private:
    std::multimap<std::uint64_t, std::uint64_t> events_;
    std::uint64_t now_ps_ = 0;
};

// Records every event, and lets it schedule others as `plan` says: delays by the id of the event.
// The new events are numbered in the order of their scheduling.
class Recorder {
  public:
    using Plan = std::vector<std::uint64_t> (*)(std::uint64_t id, std::uint64_t now_ps);

    Recorder(EventQueue& queue, Plan plan) : queue_(queue), plan_(plan) {}

    void schedule(std::uint64_t when_ps) {
        queue_.schedule_at({when_ps}, Callback::to<&Recorder::run>(*this, next_id_++));
    }
    const std::vector<Run>& runs() const { return runs_; }

  private:
    void run(std::uint64_t id) {
        runs_.push_back({queue_.now().ps, id});
        for (const std::uint64_t delay_ps : plan_(id, queue_.now().ps)) {
            schedule(queue_.now().ps + delay_ps);
        }
    }

    EventQueue& queue_;
    Plan plan_;
    std::uint64_t next_id_ = 0;
    std::vector<Run> runs_;
};

// The same against the reference.
class ReferenceRecorder {
  public:
    explicit ReferenceRecorder(Recorder::Plan plan) : plan_(plan) {}

    void schedule(std::uint64_t when_ps) { queue_.schedule(when_ps, next_id_++); }
    void run_until(std::uint64_t limit_ps) {
        queue_.run_until(limit_ps, [this](std::uint64_t id) {
            runs_.push_back({queue_.now_ps(), id});
            for (const std::uint64_t delay_ps : plan_(id, queue_.now_ps())) {
                schedule(queue_.now_ps() + delay_ps);
            }
        });
    }
    const ReferenceQueue& queue() const { return queue_; }
    const std::vector<Run>& runs() const { return runs_; }

  private:
    ReferenceQueue queue_;
    Recorder::Plan plan_;
    std::uint64_t next_id_ = 0;
    std::vector<Run> runs_;
};

inline std::vector<std::uint64_t> no_children(std::uint64_t, std::uint64_t) {
    return {};
}

inline void expect_equal(const std::vector<Run>& actual, const std::vector<Run>& expected) {
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t i = 0; i < actual.size(); ++i) {
        ASSERT_EQ(actual[i], expected[i])
            << "event " << i << ": ran " << actual[i].id << " at " << actual[i].when_ps
            << ", should run " << expected[i].id << " at " << expected[i].when_ps;
    }
}

}  // namespace astra
