#include "workload/chakra/json_values.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace astra {
namespace {

// In the order of the numbers of NodeType and CollectiveCommType.
constexpr std::array<std::string_view, 8> kTypeNames = {
    "INVALID", "METADATA", "MEM_LOAD", "MEM_STORE", "COMP", "COMM_SEND", "COMM_RECV", "COMM_COLL"};
constexpr std::array<std::string_view, 10> kCollectiveNames = {"ALL_REDUCE",
                                                               "REDUCE",
                                                               "ALL_GATHER",
                                                               "GATHER",
                                                               "SCATTER",
                                                               "BROADCAST",
                                                               "ALL_TO_ALL",
                                                               "REDUCE_SCATTER",
                                                               "REDUCE_SCATTER_BLOCK",
                                                               "BARRIER"};

template <std::size_t N>
std::optional<std::uint64_t> find_name(const std::array<std::string_view, N>& names,
                                       std::string_view name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? std::nullopt
                                : std::optional<std::uint64_t>(found - names.begin());
}

}  // namespace

std::string canonical_key(std::string_view key) {
    std::string result;
    for (std::size_t i = 0; i < key.size(); ++i) {
        const char c = key[i];
        if (c >= 'A' && c <= 'Z') {
            if (i > 0 && key[i - 1] != '_' && !(key[i - 1] >= 'A' && key[i - 1] <= 'Z')) {
                result += '_';
            }
            result += static_cast<char>(c - 'A' + 'a');
        } else {
            result += c;
        }
    }
    return result == "node_type" ? "type" : result;
}

std::optional<std::uint64_t> node_type_number(std::string_view name) {
    if (name.ends_with("_NODE")) {
        name.remove_suffix(5);
    }
    return find_name(kTypeNames, name);
}

std::optional<std::uint64_t> collective_number(std::string_view name) {
    return find_name(kCollectiveNames, name);
}

std::optional<AttributeValue> integer_of_text(std::string_view text) {
    const bool negative = text.starts_with('-');
    const std::string_view digits = text.substr(negative ? 1 : 0);
    AttributeValue value = AttributeValue::of_unsigned(0, "integer");
    value.negative = negative;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value.magnitude);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
        return std::nullopt;
    }
    value.negative = negative && value.magnitude != 0;
    return value;
}

AttributeValue value_of_scalar(const JsonScalar& value) {
    switch (value.type) {
        case JsonScalar::Type::Boolean:
            return AttributeValue::of_boolean(value.magnitude != 0, "boolean");
        case JsonScalar::Type::Integer: {
            AttributeValue result = AttributeValue::of_unsigned(value.magnitude, "integer");
            result.negative = value.negative;
            return result;
        }
        case JsonScalar::Type::Number:
            return AttributeValue::of_number(value.number, "number");
        case JsonScalar::Type::Text:
            return AttributeValue::of_text(value.text, "string");
        case JsonScalar::Type::Null:
            break;
    }
    return {};
}

std::optional<std::uint64_t> count_of(const JsonScalar& value) {
    std::optional<AttributeValue> number;
    if (value.type == JsonScalar::Type::Integer) {
        number = value_of_scalar(value);
    } else if (value.type == JsonScalar::Type::Text) {
        number = integer_of_text(value.text);
    }
    return number && !number->negative ? std::optional(number->magnitude) : std::nullopt;
}

}  // namespace astra
