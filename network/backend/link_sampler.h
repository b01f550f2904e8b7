// Looks at the links of a backend in equal intervals and tells the recorder.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/recorder/recorder.h"
#include "network/backend/backend.h"

namespace astra {

// The queue, the backend, the recorder and the count outlive it. One event an interval, each
// O(links), as long as more is to happen than `waiting` events, which stand for nothing that moves
// (link changes still to come). Tells only of links that carried or held something in an interval.
class LinkSampler {
  public:
    // Requires an interval above 0 and a backend whose links are shared.
    LinkSampler(EventQueue& queue,
                NetworkBackend& backend,
                Recorder& recorder,
                Duration interval,
                const std::size_t& waiting)
        : queue_(queue),
          backend_(backend),
          recorder_(recorder),
          interval_(interval),
          waiting_(waiting) {}

    void start() {
        backend_.sample(now_);
        plan();
    }

    // Whether it told of more than kMostRows, after which it stopped.
    bool cut_short() const { return cut_short_; }
    // Its own events so far.
    std::uint64_t events() const { return events_; }

    static constexpr std::size_t kMostRows = std::size_t{1} << 20;

  private:
    void plan();
    void take(std::uint64_t);

    EventQueue& queue_;
    NetworkBackend& backend_;
    Recorder& recorder_;
    Duration interval_;
    const std::size_t& waiting_;
    std::vector<LinkSample> now_;
    std::vector<LinkSample> before_;
    std::size_t rows_ = 0;
    std::uint64_t events_ = 0;
    bool cut_short_ = false;
};

}  // namespace astra
