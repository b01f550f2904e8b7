// Quantities with units, as text. Every parser returns nothing when the text is not such a
// quantity; a bare number (but 0) is not one. Numbers may be decimal fractions and have an
// exponent; the result is rounded to the nearest integer unit and must fit it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "astra/core/types.h"

namespace astra {

std::optional<Duration> parse_duration(std::string_view text);
// Whether it is a time at all, though perhaps one that does not fit.
bool is_duration(std::string_view text);
std::optional<Bytes> parse_bytes(std::string_view text);
// Bits ("400Gbps", "400Gb/s", powers of 1000) or bytes ("50GB/s" = 50·10^9, "50GiB/s" = 50·2^30).
std::optional<Bandwidth> parse_bandwidth(std::string_view text);
// Operations a second: "312TFLOPS", "1.5e12FLOPS".
std::optional<double> parse_rate(std::string_view text);

// For people: three to six significant digits and the unit that fits: "43.05 us", "1 MiB", "50
// GB/s".
std::string to_text(Duration duration);
std::string to_text(Bytes bytes);
std::string to_text(Bandwidth bandwidth);

}  // namespace astra
