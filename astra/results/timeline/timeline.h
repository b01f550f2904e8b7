// Writes what a run does to a trace file, as it happens: a subscriber of the recorder.
//
// Each rank shows compute, CPU ops, memory accesses, collectives and the phases of their chunks,
// sends, receives, the messages that it sends and receives with arrows between them, and for whom
// it waits. Beside the ranks: gradient transfers by group, and what each link carried.
// Memory: some 100 bytes a track and a name, nothing a slice.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "astra/core/recorder/recorder.h"
#include "astra/results/timeline/timeline_options.h"
#include "astra/results/timeline/trace_format.h"
#include "astra/results/timeline/trace_tracks.h"

namespace astra {

class Timeline final : public SpanSubscriber {
  public:
    using LinkName = std::function<std::string(LinkId link)>;

    // Opens the file. Throws ConfigError when that fails.
    Timeline(TimelineOptions options, std::uint32_t ranks, LinkName link_name);

    void on_span(const Span& span) override;
    void on_link(const LinkInterval& interval) override;

    // Without it there will be no file.
    void close();

  private:
    struct Link {
        std::uint32_t track = 0;
        SimTime told;  // up to when its counter holds
        bool zero = true;
    };
    enum class NameOf : std::uint64_t { Phase, Sent, Received, Waiting };

    void op(const Span& span);
    void phase(const Span& span);
    void message(const Span& span);
    void transfer(const Span& span);
    void waiting(const Span& span);
    std::uint32_t name(std::string_view text);
    // The number of a text that is made from a few numbers.
    template <class Make>
    std::uint32_t name(NameOf what, std::uint64_t a, std::uint64_t b, const Make& make);

    struct NumbersHash {
        std::size_t operator()(const std::array<std::uint64_t, 3>& key) const {
            std::uint64_t hash = key[0];
            for (const std::uint64_t part : {key[1], key[2]}) {
                hash = (hash ^ part) * 0x9e3779b97f4a7c15ULL;
                hash ^= hash >> 32U;
            }
            return static_cast<std::size_t>(hash);
        }
    };
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const {
            return std::hash<std::string_view>{}(text);
        }
    };

    TimelineOptions options_;
    LinkName link_name_;
    std::unique_ptr<TraceFormat> format_;
    TraceTracks tracks_;
    // Looked up, never walked.
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> names_;
    std::unordered_map<std::array<std::uint64_t, 3>, std::uint32_t, NumbersHash> numbered_;
    std::vector<Link> links_;
};

}  // namespace astra
