#include "workload/nodes/attribute_value.h"

namespace astra {
namespace {

bool is_integer(const AttributeValue& value) {
    return value.type == AttributeType::Integer || value.type == AttributeType::Boolean;
}

double as_number(const AttributeValue& value) {
    const auto magnitude = static_cast<double>(value.magnitude);
    return !is_integer(value) ? value.number : value.negative ? -magnitude : magnitude;
}

}  // namespace

bool agree(const AttributeValue& a, const AttributeValue& b) {
    if (is_integer(a) && is_integer(b)) {
        return a.negative == b.negative && a.magnitude == b.magnitude;
    }
    const bool numbers = (is_integer(a) || a.type == AttributeType::Number) &&
                         (is_integer(b) || b.type == AttributeType::Number);
    if (numbers) {
        return as_number(a) == as_number(b);
    }
    return a.type == b.type && a.type != AttributeType::Other && a.text == b.text &&
           a.flags == b.flags && a.counts == b.counts;
}

AttributeValue AttributeValue::of_signed(std::int64_t value, const char* type_name) {
    AttributeValue result = of_unsigned(static_cast<std::uint64_t>(value), type_name);
    if (value < 0) {
        result.negative = true;
        result.magnitude = ~static_cast<std::uint64_t>(value) + 1;
    }
    return result;
}

AttributeValue AttributeValue::of_unsigned(std::uint64_t value, const char* type_name) {
    AttributeValue result;
    result.type = AttributeType::Integer;
    result.type_name = type_name;
    result.magnitude = value;
    return result;
}

AttributeValue AttributeValue::of_number(double value, const char* type_name) {
    AttributeValue result;
    result.type = AttributeType::Number;
    result.type_name = type_name;
    result.number = value;
    return result;
}

AttributeValue AttributeValue::of_boolean(bool value, const char* type_name) {
    AttributeValue result;
    result.type = AttributeType::Boolean;
    result.type_name = type_name;
    result.magnitude = value ? 1 : 0;
    return result;
}

AttributeValue AttributeValue::of_text(std::string_view value, const char* type_name) {
    AttributeValue result;
    result.type = AttributeType::Text;
    result.type_name = type_name;
    result.text = value;
    return result;
}

AttributeValue AttributeValue::of_other(const char* type_name) {
    AttributeValue result;
    result.type = AttributeType::Other;
    result.type_name = type_name;
    return result;
}

AttributeValue AttributeValue::of_list(const char* type_name) {
    AttributeValue result;
    result.type = AttributeType::Flags;
    result.type_name = type_name;
    return result;
}

void AttributeValue::append(std::uint64_t element) {
    if (type == AttributeType::Flags && element > 1) {
        type = AttributeType::Counts;
        counts.assign(flags.begin(), flags.end());
        flags.clear();
    }
    if (type == AttributeType::Counts) {
        counts.push_back(element);
    } else {
        flags.push_back(element != 0);
    }
}

}  // namespace astra
