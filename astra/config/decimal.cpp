#include "astra/config/decimal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

namespace astra {
namespace {

// Beyond every exponent that can matter, and far from overflow when digits are added to it.
constexpr std::int64_t kLargestExponent = 1'000'000'000;
constexpr std::int64_t kLongestPlainText = 30;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Reads "e±digits" at the start of `text`; leaves `text` alone if that is not what is there, so
// that a unit may begin with an 'e'.
std::int64_t take_exponent(std::string_view& text) {
    if (text.empty() || (text[0] != 'e' && text[0] != 'E')) {
        return 0;
    }
    std::size_t at = 1;
    const bool negative = at < text.size() && text[at] == '-';
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) {
        ++at;
    }
    if (at == text.size() || !is_digit(text[at])) {
        return 0;
    }
    std::int64_t exponent = 0;
    for (; at < text.size() && is_digit(text[at]); ++at) {
        exponent = std::min(kLargestExponent, exponent * 10 + (text[at] - '0'));
    }
    text.remove_prefix(at);
    return negative ? -exponent : exponent;
}

void normalize(Decimal& value) {
    const std::size_t first = value.digits.find_first_not_of('0');
    if (first == std::string::npos) {
        value = {};
        return;
    }
    const std::size_t last = value.digits.find_last_not_of('0');
    value.exponent += static_cast<std::int64_t>(value.digits.size() - 1 - last);
    value.digits = value.digits.substr(first, last + 1 - first);
}

// The decimal digits of value.digits · factor, without leading zeros.
std::string multiplied(const std::string& digits, std::uint64_t factor) {
    std::string product;
    unsigned __int128 carry = 0;
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
        carry += static_cast<unsigned __int128>(factor) * static_cast<std::uint64_t>(*digit - '0');
        product.push_back(static_cast<char>('0' + static_cast<int>(carry % 10)));
        carry /= 10;
    }
    for (; carry != 0; carry /= 10) {
        product.push_back(static_cast<char>('0' + static_cast<int>(carry % 10)));
    }
    std::reverse(product.begin(), product.end());
    return product.substr(std::min(product.find_first_not_of('0'), product.size()));
}

}  // namespace

std::optional<Decimal> take_decimal(std::string_view& text) {
    std::string_view rest = text;
    if (!rest.empty() && rest[0] == '+') {
        rest.remove_prefix(1);
    }
    Decimal value;
    bool fraction = false;
    std::size_t at = 0;
    for (; at < rest.size() && (is_digit(rest[at]) || (rest[at] == '.' && !fraction)); ++at) {
        if (rest[at] == '.') {
            fraction = true;
            continue;
        }
        value.digits.push_back(rest[at]);
        value.exponent -= fraction ? 1 : 0;
    }
    if (value.digits.empty()) {
        return std::nullopt;
    }
    rest.remove_prefix(at);
    value.exponent += take_exponent(rest);
    normalize(value);
    text = rest;
    return value;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
    const std::optional<Decimal> value = take_decimal(text);
    return text.empty() ? value : std::nullopt;
}

std::optional<std::uint64_t> scaled(const Decimal& value, std::uint64_t factor) {
    if (value.is_zero() || factor == 0) {
        return 0;
    }
    const std::string digits = multiplied(value.digits, factor);
    const std::int64_t whole = static_cast<std::int64_t>(digits.size()) + value.exponent;
    if (whole > std::numeric_limits<std::uint64_t>::digits10 + 1) {
        return std::nullopt;
    }
    unsigned __int128 result = 0;
    for (std::int64_t i = 0; i < whole; ++i) {
        const auto at = static_cast<std::size_t>(i);
        result = result * 10 + static_cast<unsigned>(at < digits.size() ? digits[at] - '0' : 0);
    }
    if (whole >= 0 && static_cast<std::size_t>(whole) < digits.size() &&
        digits[static_cast<std::size_t>(whole)] >= '5') {
        ++result;
    }
    if (result > std::numeric_limits<std::uint64_t>::max()) {
        return std::nullopt;
    }
    return static_cast<std::uint64_t>(result);
}

std::optional<double> to_double(const Decimal& value, std::int64_t power) {
    if (value.is_zero()) {
        return 0.0;
    }
    const std::string text = value.digits + "e" + std::to_string(value.exponent + power);
    double result = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(result)) {
        return std::nullopt;
    }
    return result;
}

std::string to_plain_text(const Decimal& value) {
    if (value.is_zero()) {
        return "0";
    }
    const auto count = static_cast<std::int64_t>(value.digits.size());
    const std::int64_t whole = count + value.exponent;
    if (whole > kLongestPlainText || -value.exponent > kLongestPlainText) {
        return value.digits + "e" + std::to_string(value.exponent);
    }
    if (value.exponent >= 0) {
        return value.digits + std::string(static_cast<std::size_t>(value.exponent), '0');
    }
    if (whole > 0) {
        const auto point = static_cast<std::size_t>(whole);
        return value.digits.substr(0, point) + "." + value.digits.substr(point);
    }
    return "0." + std::string(static_cast<std::size_t>(-whole), '0') + value.digits;
}

}  // namespace astra
