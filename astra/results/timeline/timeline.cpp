#include "astra/results/timeline/timeline.h"

#include <utility>

#include <fmt/format.h>

namespace astra {

namespace {

// The names of the categories, whose numbers begin with 1.
constexpr std::array<std::string_view, 7> kCategories = {
    "compute", "cpu", "memory", "communication", "phase", "transfer", "waiting"};

constexpr std::uint32_t category(std::string_view name) {
    std::uint32_t number = 1;
    for (const std::string_view known : kCategories) {
        if (known == name) {
            return number;
        }
        ++number;
    }
    return 0;
}

struct StreamTrack {
    TrackKind kind;
    std::uint32_t category;
};

constexpr StreamTrack track_of(OpStream stream) {
    switch (stream) {
        case OpStream::Cpu:
            return {TrackKind::Cpu, category("cpu")};
        case OpStream::Compute:
            return {TrackKind::Compute, category("compute")};
        case OpStream::Memory:
            return {TrackKind::Memory, category("memory")};
        case OpStream::Send:
            return {TrackKind::Sends, category("communication")};
        case OpStream::Receive:
            return {TrackKind::Receives, category("communication")};
        case OpStream::Collective:
        case OpStream::None:
            break;
    }
    return {TrackKind::Collectives, category("communication")};
}

}  // namespace

Timeline::Timeline(TimelineOptions options, std::uint32_t ranks, LinkName link_name)
    : options_(std::move(options)),
      link_name_(std::move(link_name)),
      format_(open_trace(options_.path)),
      tracks_(*format_, ranks) {
    for (std::uint32_t i = 0; i < kCategories.size(); ++i) {
        format_->add_category(i + 1, kCategories[i]);
    }
}

std::uint32_t Timeline::name(std::string_view text) {
    const auto known = names_.find(text);
    if (known != names_.end()) {
        return known->second;
    }
    const auto number = static_cast<std::uint32_t>(names_.size() + 1);
    names_.emplace(text, number);
    format_->add_name(number, text);
    return number;
}

template <class Make>
std::uint32_t Timeline::name(NameOf what, std::uint64_t a, std::uint64_t b, const Make& make) {
    const auto [known, is_new] =
        numbered_.try_emplace({static_cast<std::uint64_t>(what), a, b}, 0U);
    if (is_new) {
        known->second = name(make());
    }
    return known->second;
}

void Timeline::on_span(const Span& span) {
    if (!options_.shows(span.begin, span.end)) {
        return;
    }
    switch (span.kind) {
        case SpanKind::Op:
            return op(span);
        case SpanKind::Phase:
            return phase(span);
        case SpanKind::Message:
            return message(span);
        case SpanKind::Transfer:
            return transfer(span);
        case SpanKind::Waiting:
            return waiting(span);
    }
}

void Timeline::op(const Span& span) {
    if (span.stream == OpStream::None || !options_.shows(span.rank)) {
        return;
    }
    const StreamTrack where = track_of(span.stream);
    format_->slice({tracks_.take(span.rank, where.kind, span.begin, span.end),
                    name(span.name.empty() ? span.detail : span.name),
                    where.category,
                    span.begin,
                    span.end});
}

void Timeline::phase(const Span& span) {
    if (!options_.shows(span.rank)) {
        return;
    }
    const std::uint64_t what = (std::uint64_t{name(span.name)} << 32U) | name(span.detail);
    const std::uint64_t which =
        (std::uint64_t{span.chunk} << 32U) | (std::uint64_t{span.dimension} << 16U) | span.phase;
    const std::uint32_t number = name(NameOf::Phase, what, which, [&] {
        return fmt::format("chunk {}, phase {}: {} {}, dimension {}",
                           span.chunk,
                           span.phase,
                           span.name,
                           span.detail,
                           span.dimension);
    });
    format_->slice({tracks_.take(span.rank, TrackKind::Chunks, span.begin, span.end),
                    number,
                    category("phase"),
                    span.begin,
                    span.end});
}

// The sender's track has the message, from its injection to its delivery; the receiver's the
// instant of its delivery, where the arrow ends. Most slices are of messages: their tracks tell
// them apart, and a category would be two bytes of forty.
void Timeline::message(const Span& span) {
    const bool sender = options_.shows(span.rank);
    const bool receiver = options_.shows(span.peer);
    TraceSlice slice;
    slice.begin = span.begin;
    slice.end = span.end;
    slice.flow = sender && receiver ? index(span.id) : 0;
    if (sender) {
        slice.name = name(NameOf::Sent, index(span.peer), span.bytes.count, [&] {
            return fmt::format("{} B to {}", span.bytes.count, index(span.peer));
        });
        slice.track = tracks_.take(span.rank, TrackKind::MessagesSent, span.begin, span.end);
        format_->slice(slice);
    }
    if (receiver) {
        slice.name = name(NameOf::Received, index(span.rank), span.bytes.count, [&] {
            return fmt::format("{} B from {}", span.bytes.count, index(span.rank));
        });
        slice.track = tracks_.take(span.peer, TrackKind::MessagesReceived, span.end, span.end);
        slice.flow_ends = true;
        format_->instant(slice);
    }
}

void Timeline::transfer(const Span& span) {
    format_->slice({tracks_.take_transfer(
                        static_cast<std::uint32_t>(span.number), span.name, span.begin, span.end),
                    name(fmt::format("{} B", span.bytes.count)),
                    category("transfer"),
                    span.begin,
                    span.end});
}

void Timeline::waiting(const Span& span) {
    if (!options_.shows(span.rank)) {
        return;
    }
    const std::uint32_t number = name(NameOf::Waiting, index(span.peer), 0, [&] {
        return fmt::format("for rank {}", index(span.peer));
    });
    format_->slice({tracks_.take(span.rank, TrackKind::Waiting, span.begin, span.end),
                    number,
                    category("waiting"),
                    span.begin,
                    span.end});
}

void Timeline::on_link(const LinkInterval& interval) {
    if (interval.end < options_.from || options_.until < interval.begin) {
        return;
    }
    const std::size_t number = index(interval.link);
    if (number >= links_.size()) {
        links_.resize(number + 1);
    }
    Link& link = links_[number];
    if (link.track == 0) {
        link.track = tracks_.add_counter(link_name_(interval.link));
    } else if (!link.zero && link.told < interval.begin) {
        format_->count(link.track, link.told, 0);
    }
    format_->count(link.track, interval.begin, interval.bytes.count);
    link.told = interval.end;
    link.zero = interval.bytes.count == 0;
}

void Timeline::close() {
    for (const Link& link : links_) {
        if (link.track != 0 && !link.zero) {
            format_->count(link.track, link.told, 0);
        }
    }
    format_->close();
}

}  // namespace astra
