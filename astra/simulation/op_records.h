// When the ops of a replay ran, for ops.csv: a subscriber of the recorder.
#pragma once

#include <string>
#include <vector>

#include "astra/core/recorder/recorder.h"
#include "astra/core/records.h"

namespace astra {

// 80 bytes an op and rank, and names of more than 15 characters.
class OpRecords final : public SpanSubscriber {
  public:
    void on_span(const Span& span) override {
        if (span.kind == SpanKind::Op) {
            records_.push_back({span.rank,
                                span.number,
                                std::string(span.name),
                                span.detail,
                                span.begin,
                                span.end});
        }
    }
    // In the order in which the ops ended.
    const std::vector<OpRecord>& records() const { return records_; }

  private:
    std::vector<OpRecord> records_;
};

}  // namespace astra
