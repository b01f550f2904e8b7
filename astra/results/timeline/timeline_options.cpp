#include "astra/results/timeline/timeline_options.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "astra/core/error.h"

namespace astra {

bool TimelineOptions::shows(RankId rank) const {
    return ranks.empty() || std::any_of(ranks.begin(), ranks.end(), [&](const Range& range) {
               return range.first <= index(rank) && index(rank) <= range.last;
           });
}

std::vector<TimelineOptions::Range> parse_rank_ranges(std::string_view text) {
    const auto refuse = [&] {
        throw ConfigError(
            fmt::format("--timeline-ranks: '{}' is no list of ranks, as in 0-3,8", text));
    };
    const auto number = [&](std::string_view digits) {
        std::uint32_t value = 0;
        const char* const end = digits.data() + digits.size();
        const auto [stop, error] = std::from_chars(digits.data(), end, value);
        if (error != std::errc{} || stop != end) {
            refuse();
        }
        return value;
    };
    std::vector<TimelineOptions::Range> ranges;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::string_view part = text.substr(begin, end - begin);
        const std::size_t dash = part.find('-');
        const std::uint32_t first = number(part.substr(0, dash));
        const std::uint32_t last =
            dash == std::string_view::npos ? first : number(part.substr(dash + 1));
        if (last < first) {
            refuse();
        }
        ranges.push_back({first, last});
        begin = end + 1;
    }
    return ranges;
}

}  // namespace astra
