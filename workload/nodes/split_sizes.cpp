#include "workload/nodes/split_sizes.h"

#include <charconv>
#include <string_view>

#include <fmt/format.h>

#include "astra/core/types.h"
#include "workload/graph/messages.h"

namespace astra {
namespace {

constexpr std::uint64_t kMostSplitBytes = std::uint64_t{1} << 63U;

void skip_blanks(std::string_view& text) {
    while (text.starts_with(' ')) {
        text.remove_prefix(1);
    }
}

// "[1, 2]"; false if it is nothing like that.
bool read_text(std::string_view text, std::vector<std::uint64_t>& counts) {
    if (!text.starts_with('[') || !text.ends_with(']')) {
        return text.empty();
    }
    text = text.substr(1, text.size() - 2);
    skip_blanks(text);
    while (!text.empty()) {
        std::uint64_t count = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, count);
        if (error != std::errc{}) {
            return false;
        }
        counts.push_back(count);
        text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
        skip_blanks(text);
        if (text.empty()) {
            return true;
        }
        if (text.front() != ',') {
            return false;
        }
        text.remove_prefix(1);
        skip_blanks(text);
        if (text.empty()) {
            return false;
        }
    }
    return true;
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& counts) {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : counts) {
        sum = saturating_add(sum, count);
    }
    return sum;
}

// Multiplies; false beyond 2^63 bytes in all.
bool scale(std::vector<std::uint64_t>& counts, std::uint64_t unit) {
    if (saturating_multiply(sum_of(counts), unit) > kMostSplitBytes) {
        return false;
    }
    for (std::uint64_t& count : counts) {
        count *= unit;
    }
    return true;
}

}  // namespace

std::string read_counts(const AttributeValue& value, std::vector<std::uint64_t>& counts) {
    counts.clear();
    switch (value.type) {
        case AttributeType::None:
            return "";
        case AttributeType::Flags:
            counts.assign(value.flags.begin(), value.flags.end());
            return "";
        case AttributeType::Counts:
            counts = value.counts;
            return "";
        case AttributeType::Text:
            if (read_text(value.text, counts)) {
                return "";
            }
            return fmt::format("'{}' is no list like [1, 2] of whole numbers from 0",
                               printable(value.text));
        default:
            return fmt::format("has the type {}; a list of whole numbers from 0 is expected",
                               value.type_name);
    }
}

std::string to_bytes(SplitSizes& sizes,
                     std::optional<std::uint64_t>& bytes,
                     std::uint64_t element_bytes) {
    if (sizes.sends.empty() && !sizes.receives.empty()) {
        const std::size_t parts = sizes.receives.size();
        if (!bytes || *bytes % parts != 0) {
            return fmt::format("in_split_size is empty, and comm_size is {} {} equal parts",
                               bytes ? "not a multiple of" : "missing for",
                               parts);
        }
        sizes.sends.assign(parts, *bytes / parts);
        sizes.receives.clear();  // in a unit that nothing tells
        return "";
    }
    if (!sizes.receives.empty() && sizes.receives.size() != sizes.sends.size()) {
        return fmt::format("in_split_size has {} sizes, out_split_size {}",
                           sizes.sends.size(),
                           sizes.receives.size());
    }
    const std::uint64_t sum = sum_of(sizes.sends);
    std::uint64_t unit = element_bytes;
    if (bytes && sum > 0) {
        if (*bytes == 0 || *bytes % sum != 0) {
            return fmt::format(
                "comm_size, {} B, is not a multiple of the {} that in_split_size adds up to",
                *bytes,
                sum);
        }
        unit = *bytes / sum;
    } else if (bytes) {
        if (*bytes != 0) {
            return fmt::format("in_split_size adds up to 0, but comm_size is {} B", *bytes);
        }
        sizes.receives.clear();
    }
    if (!scale(sizes.sends, unit) || !scale(sizes.receives, unit)) {
        return "its sizes add up to more than 2^63 bytes";
    }
    bytes = sum * unit;
    return "";
}

}  // namespace astra
