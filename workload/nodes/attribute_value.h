// The value of one attribute of a node, in whatever type a producer wrote it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

enum class AttributeType : std::uint8_t {
    None,
    Integer,
    Number,
    Boolean,
    Text,
    Flags,
    Counts,
    Other
};

struct AttributeValue {
    AttributeType type = AttributeType::None;
    const char* type_name = "";         // as the format calls it, for messages
    bool negative = false;              // Integer
    std::uint64_t magnitude = 0;        // Integer, Boolean
    double number = 0;                  // Number
    std::string text;                   // Text
    std::vector<bool> flags;            // Flags: a list of booleans, or of numbers 0 and 1
    std::vector<std::uint64_t> counts;  // Counts: of other whole numbers from 0

    static AttributeValue of_signed(std::int64_t value, const char* type_name);
    static AttributeValue of_unsigned(std::uint64_t value, const char* type_name);
    static AttributeValue of_number(double value, const char* type_name);
    static AttributeValue of_boolean(bool value, const char* type_name);
    static AttributeValue of_text(std::string_view value, const char* type_name);
    static AttributeValue of_other(const char* type_name);
    static AttributeValue of_list(const char* type_name);  // empty: Flags
    // Appends to a list.
    void append(std::uint64_t element);
};

// Whether two values mean the same, whatever types they were written with.
bool agree(const AttributeValue& a, const AttributeValue& b);

}  // namespace astra
