// "Did you mean …?": the closest of a set of valid names.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace astra {

// The candidate with the least edit distance to `name` (case ignored, '-' equal to '_'), or "" when
// none is near enough to be a typing error.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

// "; did you mean 'x'?" or, with no near name, "; valid: a, b, c" (at most twelve).
std::string suggestion(std::string_view name, std::span<const std::string> candidates);

// "a, b or c" with `last` " or "; "" of none.
std::string joined(std::span<const std::string> names, std::string_view last);

}  // namespace astra
