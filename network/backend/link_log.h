// The intervals of links, for queues.csv: a subscriber of the recorder.
#pragma once

#include <vector>

#include "astra/core/recorder/recorder.h"
#include "astra/core/records.h"
#include "network/topology/topology.h"

namespace astra {

// 88 bytes an interval of a link that did something.
class LinkLog final : public SpanSubscriber {
  public:
    // The topology outlives the log.
    explicit LinkLog(const Topology& topology) : topology_(topology) {}

    void on_span(const Span&) override {}
    void on_link(const LinkInterval& interval) override { intervals_.push_back(interval); }
    // The records in the order of time and then of links.
    std::vector<LinkSampleRecord> records() const;

  private:
    const Topology& topology_;
    std::vector<LinkInterval> intervals_;
};

}  // namespace astra
