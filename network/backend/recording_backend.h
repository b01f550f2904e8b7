// A backend around another one that counts what has been delivered and tells the recorder of each
// message. One more virtual call and some 10 ns a message, and what the recorder takes.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/recorder/recorder.h"
#include "astra/core/records.h"
#include "network/backend/backend.h"

namespace astra {

// The inner backend outlives it.
class RecordingBackend final : public NetworkBackend {
  public:
    // With numbers: messages are numbered from 1 in the order of send(), for MessageLog.
    RecordingBackend(NetworkBackend& inner, bool numbers) : inner_(inner), numbers_(numbers) {}

    // Before the run; null for none.
    void record(Recorder* recorder) { recorder_ = recorder; }

    SimTime send(const Message& message,
                 SimTime at,
                 Callback delivered,
                 Callback sent = {}) override;
    void set_link(LinkId link, bool up) override { inner_.set_link(link, up); }
    std::vector<LinkRecord> link_records() const override { return inner_.link_records(); }

    std::uint64_t delivered() const { return delivered_; }

  private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    struct Flight {
        Callback delivered;
        Callback sent;
        Cause span{};
        std::uint32_t next_free = kNone;
    };

    void on_sent(std::uint64_t flight);
    void on_delivered(std::uint64_t flight);

    NetworkBackend& inner_;
    Recorder* recorder_ = nullptr;
    bool numbers_;
    std::vector<Flight> flights_;
    std::uint32_t free_ = kNone;
    std::uint64_t sent_ = 0;
    std::uint64_t delivered_ = 0;
};

}  // namespace astra
