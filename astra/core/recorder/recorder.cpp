#include "astra/core/recorder/recorder.h"

#include <algorithm>
#include <limits>

#include "astra/core/check.h"
#include "astra/core/error.h"

namespace astra {

void Recorder::subscribe(SpanSubscriber& subscriber) {
    for (auto& of_kind : subscribers_) {
        of_kind.push_back(&subscriber);
    }
    links_.push_back(&subscriber);
}

Cause Recorder::take_number(std::uint32_t at) {
    const std::uint64_t number = std::uint64_t{first_number_} + numbers_.size();
    if (number >= std::numeric_limits<std::uint32_t>::max()) {
        throw SimulationError("more than 2^32 spans were recorded; record less of this run");
    }
    numbers_.push_back(at);
    return Cause{static_cast<std::uint32_t>(number)};
}

void Recorder::forget() {
    while (!numbers_.empty() && numbers_.front() == kOver) {
        numbers_.pop_front();
        ++first_number_;
    }
}

Cause Recorder::begin(const Span& span) {
    if (free_.empty()) {
        free_.push_back(static_cast<std::uint32_t>(open_.size()));
        open_.emplace_back();
    }
    const std::uint32_t at = free_.back();
    free_.pop_back();
    open_[at] = span;
    open_[at].id = take_number(at);
    open_[at].cause = current();
    open_[at].begin = std::max(span.begin, queue_.now());
    return open_[at].id;
}

void Recorder::end(Cause id, Cause released) {
    const std::size_t number = std::size_t{index(id)} - first_number_;
    ASTRA_CHECK(number < numbers_.size() && numbers_[number] != kOver, "a span ends once");
    const std::uint32_t at = numbers_[number];
    Span& span = open_[at];
    span.end = std::max(queue_.now(), span.begin);
    span.released = released == id ? kNoCause : released;
    tell(span);
    numbers_[number] = kOver;
    free_.push_back(at);
    forget();
}

void Recorder::add(const Span& span) {
    Span done = span;
    done.id = take_number(kOver);
    tell(done);
    forget();
}

void Recorder::add(const LinkInterval& interval) {
    for (SpanSubscriber* subscriber : links_) {
        subscriber->on_link(interval);
    }
}

}  // namespace astra
