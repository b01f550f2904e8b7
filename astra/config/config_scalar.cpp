#include "astra/config/config_scalar.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "astra/config/decimal.h"
#include "astra/config/units.h"
#include "astra/core/text/nearest.h"

namespace astra {
namespace {

[[noreturn]] void fail(const ConfigNode& node, std::string_view message) {
    fail_at(node.place, path_of(node), message);
}

const std::string& text_of(const ConfigNode& node, std::string_view expected) {
    if (node.kind == ConfigNode::Kind::Null) {
        fail(node, "has no value; " + std::string(expected) + " is expected");
    }
    if (node.kind != ConfigNode::Kind::Scalar) {
        fail(node,
             "is " + std::string(describe(node)) + "; " + std::string(expected) + " is expected");
    }
    return node.scalar;
}

// The text of a value that is not a string.
const std::string& plain_text_of(const ConfigNode& node, std::string_view expected) {
    const std::string& text = text_of(node, expected);
    if (node.quoted) {
        fail(node, "'" + text + "' is text in quotes; " + std::string(expected) + " is expected");
    }
    return text;
}

// parse_*(text) of units.h, with an error that says what such a quantity looks like.
template <class Quantity>
Quantity quantity_of(const ConfigNode& node,
                     const std::string& text,
                     std::optional<Quantity> (*parse)(std::string_view),
                     std::string_view expected) {
    if (const std::optional<Quantity> value = parse(text)) {
        return *value;
    }
    const bool bare = parse_decimal(text).has_value();
    fail(node,
         "'" + text + "' " + (bare ? "has no unit" : "is not valid") + "; " +
             std::string(expected) + " is expected");
}

}  // namespace

std::string as_string(ConfigNode& node) {
    const std::string& text = text_of(node, "a text");
    node.read_as_text = true;
    return text;
}

bool as_bool(ConfigNode& node) {
    constexpr std::string_view expected = "true or false";
    constexpr std::array<std::string_view, 4> trues = {"true", "yes", "on", "1"};
    constexpr std::array<std::string_view, 4> falses = {"false", "no", "off", "0"};
    const std::string& text = plain_text_of(node, expected);
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    node.read_as_bool = true;
    if (std::find(trues.begin(), trues.end(), lower) != trues.end()) {
        return true;
    }
    if (std::find(falses.begin(), falses.end(), lower) == falses.end()) {
        fail(node, "'" + text + "' is not valid; true or false is expected");
    }
    return false;
}

double as_number(ConfigNode& node) {
    const std::string& text = plain_text_of(node, "a number");
    const bool negative = text.starts_with('-');
    const std::string_view digits = std::string_view(text).substr(negative ? 1 : 0);
    const bool two_signs = negative && digits.starts_with('+');
    const std::optional<Decimal> number = parse_decimal(digits);
    const std::optional<double> value = number && !two_signs ? to_double(*number, 0) : std::nullopt;
    if (!value) {
        fail(node, "'" + text + "' is not a number; a finite number is expected");
    }
    return negative ? -*value : *value;
}

std::uint64_t as_integer(ConfigNode& node, std::uint64_t least, std::uint64_t most) {
    const std::string expected =
        "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    const std::string& text = plain_text_of(node, expected);
    const std::optional<Decimal> number = parse_decimal(text);
    const std::optional<std::uint64_t> value =
        number && number->is_integer() ? scaled(*number, 1) : std::nullopt;
    if (!value || *value < least || *value > most) {
        fail(node, "'" + text + "' is not valid; " + expected + " is expected");
    }
    return *value;
}

Duration as_duration(ConfigNode& node) {
    constexpr std::string_view expected =
        "a time with a unit (ps, ns, us, ms, s, min, h) such as 500ns";
    return quantity_of(node, text_of(node, expected), &parse_duration, expected);
}

Bytes as_bytes(ConfigNode& node) {
    constexpr std::string_view expected =
        "a size with a unit (B, KB, MB, GB, TB, KiB, MiB, GiB, TiB) such as 1MiB";
    return quantity_of(node, text_of(node, expected), &parse_bytes, expected);
}

Bandwidth as_bandwidth(ConfigNode& node) {
    constexpr std::string_view expected =
        "a bandwidth with a unit (bps, Gbps, B/s, GB/s, GiB/s, ...) such as 50GB/s";
    return quantity_of(node, text_of(node, expected), &parse_bandwidth, expected);
}

double as_rate(ConfigNode& node) {
    constexpr std::string_view expected =
        "a rate with a unit (FLOPS, GFLOPS, TFLOPS, PFLOPS, ...) such as 312TFLOPS";
    return quantity_of(node, text_of(node, expected), &parse_rate, expected);
}

std::string as_choice(ConfigNode& node, std::span<const std::string> choices) {
    std::string listed;
    for (const std::string& choice : choices) {
        listed.append(listed.empty() ? "" : ", ").append(choice);
    }
    const std::string& text = text_of(node, "one of " + listed);
    node.read_as_text = true;
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
        const std::string nearest = nearest_name(text, choices);
        fail(node,
             "'" + text + "' is not one of " + listed +
                 (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
    }
    return text;
}

std::string as_file_name(ConfigNode& node) {
    const std::string name = as_string(node);
    if (name.empty()) {
        fail(node, "is empty; a file name is expected");
    }
    node.file_name = true;
    const std::string& base = node.place.source->folder;
    return name.starts_with('/') || base == "." ? name : base + "/" + name;
}

}  // namespace astra
