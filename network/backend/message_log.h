// What became of each message that was sent: a subscriber of the recorder.
#pragma once

#include <vector>

#include "astra/core/recorder/recorder.h"
#include "astra/core/records.h"

namespace astra {

// Knows the messages with a number (RecordingBackend). 64 bytes each.
class MessageLog final : public SpanSubscriber {
  public:
    void on_span(const Span& span) override;
    // The records by number; messages that have not arrived are left out.
    std::vector<FlowRecord> records() const;

  private:
    std::vector<FlowRecord> records_;  // in the order of delivery
};

}  // namespace astra
