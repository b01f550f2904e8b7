// The one sink that the layers write to: what happened when, at which rank, and because of what.
//
// Whatever takes time is a Span. A layer begins a span when it starts and ends it when it is over;
// the recorder gives each a number, its Cause, and hands the finished span to its subscribers:
// files, timelines, critical paths. Causes need no argument of every function: a layer says
// `Recorder::Because` for as long as it acts on behalf of a span, and what is begun or ended
// meanwhile was caused, or released, by that one. This holds within one event; a layer that
// schedules an event of its own carries the cause there itself.
//
// A layer holds a pointer to the recorder, which is null when nobody subscribes to its spans: the
// test of that pointer is then all that it costs. Cost: some 20 ns a span and the subscribers'; 140
// bytes for each span that is not over, and 4 for each that began since the oldest of them.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/types.h"

namespace astra {

// The number of a span, from 1 in the order in which they begin.
enum class Cause : std::uint32_t {};
inline constexpr Cause kNoCause{0};

constexpr std::uint32_t index(Cause cause) {
    return static_cast<std::uint32_t>(cause);
}

// From the outside in: an op of a rank holds the phases of its collective, a phase its messages.
enum class SpanKind : std::uint8_t { Op, Transfer, Phase, Message, Waiting };
inline constexpr std::size_t kSpanKinds = 5;

// What an op keeps busy.
enum class OpStream : std::uint8_t { Cpu, Compute, Memory, Collective, Send, Receive, None };

// What the fields mean, by kind (fields that are not named stay as they are):
//
//   kind      rank         peer          bytes   number         name            detail
//   Op        it runs on   -             -       node id        of the op       kind of the op
//   Transfer  -            -             all     communicator   the group       -
//   Phase     it runs on   -             buffer  of collective  the collective  algorithm
//   Message   sends        receives      size    of the backend -               -
//   Waiting   waits        waited for    -       -              -               -
//
// Texts belong to graphs and plans, which outlive the recorder's subscribers.
struct Span {
    SpanKind kind{};
    OpStream stream = OpStream::None;  // of an op
    Cause id{};
    Cause cause{};     // why it began; kNoCause: nothing before it
    Cause released{};  // what ended it; kNoCause: it took its time
    RankId rank{};
    RankId peer{};
    SimTime begin;
    SimTime end;
    Bytes bytes;
    std::uint64_t number = 0;
    std::string_view name;
    std::string_view detail;
    std::string_view group;       // of a phase
    std::uint32_t op = 0;         // of an op: its number in the graph of its rank
    std::uint32_t chunk = 0;      // of a phase
    std::uint32_t phase = 0;      // of a phase: which of the chunk's
    std::uint32_t dimension = 0;  // of a phase
};

// What became of packets before a link in an interval; nothing without packets.
struct PacketInterval {
    Bytes mean_queue;  // of the data that waited, over time
    Bytes most_queue;  // at once
    Duration paused;   // the sender was told to wait
    std::uint32_t marks = 0;
    std::uint32_t trims = 0;
    std::uint32_t drops = 0;
    std::uint32_t repeats = 0;
    bool operator==(const PacketInterval&) const = default;
};

// What a link carried in an interval that ended.
struct LinkInterval {
    LinkId link{};
    SimTime begin;
    SimTime end;
    Bytes bytes;
    Bytes queued;  // at the end
    PacketInterval packets{};
};

class SpanSubscriber {
  public:
    SpanSubscriber() = default;
    SpanSubscriber(const SpanSubscriber&) = delete;
    SpanSubscriber& operator=(const SpanSubscriber&) = delete;
    virtual ~SpanSubscriber() = default;
    // Spans come in the order in which they end.
    virtual void on_span(const Span& span) = 0;
    // Intervals come by time, those of one time by link. A link that did nothing is left out.
    virtual void on_link(const LinkInterval&) {}
};

class Recorder {
  public:
    // The queue outlives the recorder.
    explicit Recorder(const EventQueue& queue) : queue_(queue) {}
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;
    ~Recorder() = default;

    // To everything, or to some kinds. Before the run; the subscriber outlives it.
    void subscribe(SpanSubscriber& subscriber);
    void subscribe(SpanSubscriber& subscriber, SpanKind kind) { of(kind).push_back(&subscriber); }
    void subscribe_links(SpanSubscriber& subscriber) { links_.push_back(&subscriber); }
    // What a layer that tells of this kind holds: null if nobody listens.
    Recorder* told_of(SpanKind kind) { return of(kind).empty() ? nullptr : this; }

    // `span` says what begins; it begins now, or at its `begin` if that is later. Its cause is the
    // span on whose behalf this is done.
    Cause begin(const Span& span);
    // Ends it now, by the span on whose behalf this is done, or by itself.
    void end(Cause id) { end(id, current()); }
    void end(Cause id, Cause released);
    // A span that is over, with its times.
    void add(const Span& span);
    void add(const LinkInterval& interval);

    // On whose behalf the present event acts; kNoCause if nobody has said.
    Cause current() const { return event_ == queue_.executed() ? current_ : kNoCause; }

    // Says so until the end of its scope. Of a null recorder: nothing.
    class Because {
      public:
        Because(Recorder* recorder, Cause cause) : recorder_(recorder) {
            if (recorder_ != nullptr) {
                before_ = recorder_->current();
                recorder_->set(cause);
            }
        }
        ~Because() {
            if (recorder_ != nullptr) {
                recorder_->set(before_);
            }
        }
        Because(const Because&) = delete;
        Because& operator=(const Because&) = delete;

      private:
        Recorder* recorder_;
        Cause before_{};
    };

  private:
    void set(Cause cause) {
        current_ = cause;
        event_ = queue_.executed();
    }
    // Takes the next number, for a span at that index of open_.
    Cause take_number(std::uint32_t at);
    // Forgets the oldest numbers as far as their spans are over.
    void forget();
    void tell(const Span& span) const {
        for (SpanSubscriber* subscriber : subscribers_[static_cast<std::size_t>(span.kind)]) {
            subscriber->on_span(span);
        }
    }
    std::vector<SpanSubscriber*>& of(SpanKind kind) {
        return subscribers_[static_cast<std::size_t>(kind)];
    }
    static constexpr std::uint32_t kOver = 0xffffffffU;

    const EventQueue& queue_;
    std::array<std::vector<SpanSubscriber*>, kSpanKinds> subscribers_;
    std::vector<SpanSubscriber*> links_;
    std::vector<Span> open_;
    std::vector<std::uint32_t> free_;    // of open_
    std::deque<std::uint32_t> numbers_;  // index into open_ or kOver, from first_number_ on
    std::uint32_t first_number_ = 1;
    Cause current_{};
    std::uint64_t event_ = ~std::uint64_t{0};
};

}  // namespace astra
