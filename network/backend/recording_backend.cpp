#include "network/backend/recording_backend.h"

namespace astra {

SimTime RecordingBackend::send(const Message& message,
                               SimTime at,
                               Callback delivered,
                               Callback sent) {
    std::uint32_t id = free_;
    if (id == kNone) {
        id = static_cast<std::uint32_t>(flights_.size());
        flights_.emplace_back();
    } else {
        free_ = flights_[id].next_free;
    }
    flights_[id].delivered = delivered;
    flights_[id].sent = sent;
    ++sent_;
    if (recorder_ != nullptr) {
        Span span;
        span.kind = SpanKind::Message;
        span.rank = message.source;
        span.peer = message.destination;
        span.bytes = message.size;
        span.number = numbers_ ? sent_ : 0;
        span.begin = at;
        flights_[id].span = recorder_->begin(span);
    }
    return inner_.send(message,
                       at,
                       Callback::to<&RecordingBackend::on_delivered>(*this, id),
                       sent ? Callback::to<&RecordingBackend::on_sent>(*this, id) : Callback{});
}

void RecordingBackend::on_sent(std::uint64_t flight) {
    const Recorder::Because because(recorder_, flights_[flight].span);
    const Callback sent = flights_[flight].sent;
    sent();
}

void RecordingBackend::on_delivered(std::uint64_t flight) {
    Flight& done = flights_[flight];
    ++delivered_;
    // The callback may send, and so reuse the entry.
    const Callback delivered = done.delivered;
    const Cause span = done.span;
    done.next_free = free_;
    free_ = static_cast<std::uint32_t>(flight);
    if (recorder_ != nullptr) {
        recorder_->end(span, kNoCause);
    }
    const Recorder::Because because(recorder_, span);
    delivered();
}

}  // namespace astra
