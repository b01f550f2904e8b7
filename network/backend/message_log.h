// What became of each message that was sent: a subscriber of the recorder.
#pragma once

#include <vector>

#include "astra/core/recorder/recorder.h"
#include "astra/core/records.h"

namespace astra {

// Of messages with a number (RecordingBackend). 64 bytes each.
class MessageLog final : public SpanSubscriber {
  public:
    void on_span(const Span& span) override;
    // By number; those still on their way are left out.
    std::vector<FlowRecord> records() const;

  private:
    std::vector<FlowRecord> records_;  // in the order of delivery
};

}  // namespace astra
