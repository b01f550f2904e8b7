#include "astra/core/text/nearest.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace astra {
namespace {

constexpr std::size_t kListedNames = 12;
// Longer names are never typed by hand; the bound keeps hostile input from costing quadratic time.
constexpr std::size_t kLongestName = 128;

std::string normalized(std::string_view name) {
    std::string text(name);
    for (char& c : text) {
        if (c == '-') {
            c = '_';
        } else if (c >= 'A' && c <= 'Z') {
            c = static_cast<char>(c - 'A' + 'a');
        }
    }
    return text;
}

// Edits that turn `a` into `b`: insert, delete, replace, or swap two neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::array<std::vector<std::size_t>, 3> rows;  // the row before the last, the last, this one
    for (auto& row : rows) {
        row.resize(b.size() + 1);
    }
    for (std::size_t j = 0; j <= b.size(); ++j) {
        rows[1][j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        rows[2][0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = rows[1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
            std::size_t best = std::min({rows[1][j] + 1, rows[2][j - 1] + 1, replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                best = std::min(best, rows[0][j - 2] + 1);
            }
            rows[2][j] = best;
        }
        std::rotate(rows.begin(), rows.begin() + 1, rows.end());
    }
    return rows[1][b.size()];
}

}  // namespace

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
    if (name.empty() || name.size() > kLongestName) {
        return {};
    }
    const std::string wanted = normalized(name);
    const std::string* nearest = nullptr;
    // One edit in three letters is still a typing error.
    std::size_t limit = std::max<std::size_t>(1, wanted.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t longer = std::max(candidate.size(), wanted.size());
        const std::size_t shorter = std::min(candidate.size(), wanted.size());
        if (longer - shorter >= limit) {
            continue;
        }
        const std::size_t distance = edit_distance(wanted, normalized(candidate));
        // A distance as long as the name itself means that nothing is alike.
        if (distance < limit && distance < longer) {
            limit = distance;
            nearest = &candidate;
        }
    }
    return nearest == nullptr ? std::string() : *nearest;
}

std::string suggestion(std::string_view name, std::span<const std::string> candidates) {
    const std::string nearest = nearest_name(name, candidates);
    if (!nearest.empty()) {
        return "; did you mean '" + nearest + "'?";
    }
    if (candidates.empty()) {
        return {};
    }
    std::string text = "; valid: ";
    for (std::size_t i = 0; i < std::min(candidates.size(), kListedNames); ++i) {
        text.append(i == 0 ? "" : ", ").append(candidates[i]);
    }
    return candidates.size() > kListedNames ? text + ", ..." : text;
}

std::string joined(std::span<const std::string> names, std::string_view last) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) {
            text += i + 1 == names.size() ? last : std::string_view(", ");
        }
        text += names[i];
    }
    return text;
}

}  // namespace astra
