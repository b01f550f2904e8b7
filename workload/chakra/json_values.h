// The scalars and names of JSON traces, made into the values of a node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "workload/nodes/node_assembler.h"

namespace astra {

// One scalar of a document.
struct JsonScalar {
    enum class Type : std::uint8_t { Null, Boolean, Integer, Number, Text };
    Type type = Type::Null;
    bool negative = false;
    std::uint64_t magnitude = 0;  // Integer, Boolean
    double number = 0;
    std::string_view text;
};

// The one spelling of a key that the readers know: snake_case.
std::string canonical_key(std::string_view key);

// The number of the type of that name, with or without _NODE; nothing for an unknown one.
std::optional<std::uint64_t> node_type_number(std::string_view name);
std::optional<std::uint64_t> collective_number(std::string_view name);

// The whole number that `text` is in decimal.
std::optional<AttributeValue> integer_of_text(std::string_view text);
// A whole number of 0 or more, as a number or as text.
std::optional<std::uint64_t> count_of(const JsonScalar& value);
AttributeValue value_of_scalar(const JsonScalar& value);

}  // namespace astra
