// The links of a backend, looked at in equal intervals.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/records.h"
#include "network/backend/backend.h"

namespace astra {

// The queue, the topology, the backend and the count outlive it. One event an interval, each
// O(links), as long as more is to happen than `waiting` events, which stand for nothing that moves
// (link changes still to come). Keeps only links that carried or held something in an interval.
class LinkSampler {
  public:
    // Requires an interval above 0 and a backend whose links are shared.
    LinkSampler(EventQueue& queue,
                const Topology& topology,
                NetworkBackend& backend,
                Duration interval,
                const std::size_t& waiting)
        : queue_(queue),
          topology_(topology),
          backend_(backend),
          interval_(interval),
          waiting_(waiting) {}

    void start() { plan(); }

    // In the order of time and then of links.
    std::vector<LinkSampleRecord> records() const;
    // Whether the samples passed kMostRows, after which none were taken.
    bool cut_short() const { return cut_short_; }

    static constexpr std::size_t kMostRows = std::size_t{1} << 20;

  private:
    struct Row {
        SimTime end;
        std::uint32_t link = 0;
        std::uint64_t bytes = 0;
        std::uint64_t queued_bytes = 0;
    };
    void plan();
    void take(std::uint64_t);

    EventQueue& queue_;
    const Topology& topology_;
    NetworkBackend& backend_;
    Duration interval_;
    const std::size_t& waiting_;
    std::vector<LinkSample> now_;
    std::vector<LinkSample> before_;
    std::vector<Row> rows_;
    bool cut_short_ = false;
};

}  // namespace astra
