// Decimal numbers as text, without rounding: the base of every parser of quantities.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace astra {

// digits · 10^exponent; no leading and no trailing zero digits; zero has no digits.
struct Decimal {
    std::string digits;
    std::int64_t exponent = 0;

    bool is_zero() const { return digits.empty(); }
    bool is_integer() const { return exponent >= 0; }
};

// The longest number at the start of `text` ("12", "1.5", ".5", "1e-3", a '+' before it); removes
// it from `text`. Nothing if there is none or it is negative.
std::optional<Decimal> take_decimal(std::string_view& text);

// The whole of `text` as a number.
std::optional<Decimal> parse_decimal(std::string_view text);

// value · factor to the nearest integer, halves up; nothing if that does not fit.
std::optional<std::uint64_t> scaled(const Decimal& value, std::uint64_t factor);

// The double nearest to value · 10^power; nothing if it is not finite.
std::optional<double> to_double(const Decimal& value, std::int64_t power);

// The shortest text that is exactly `value`: "50", "936.25", and "1e-300" where plain digits would
// be long.
std::string to_plain_text(const Decimal& value);

}  // namespace astra
