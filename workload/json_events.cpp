#include "workload/json_events.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "workload/chakra_reader.h"
#include "workload/messages.h"

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

// The one spelling that the rest of this file knows: snake_case.
std::string canonical(std::string_view key) {
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

bool is_parents_key(std::string_view key) {
    return key == "ctrl_deps" || key == "data_deps";
}

bool is_node_list_key(std::string_view key) {
    return key == "workload_graph" || key == "nodes" || key == "node";
}

std::optional<AttributeValue> integer_text(std::string_view text, const char* type_name) {
    const bool negative = text.starts_with('-');
    const std::string_view digits = text.substr(negative ? 1 : 0);
    AttributeValue value = AttributeValue::of_unsigned(0, type_name);
    value.negative = negative;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value.magnitude);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
        return std::nullopt;
    }
    value.negative = negative && value.magnitude != 0;
    return value;
}

AttributeValue plain(const JsonScalar& value) {
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

}  // namespace

void JsonEvents::begin_node() {
    nodes_.begin();
    has_node_members_ = false;
    has_node_list_ = false;
    versions_.clear();
    open(Place::Node);
}

void JsonEvents::start_object() {
    if (skipped_ > 0) {
        ++skipped_;
    } else if (places_.empty() || places_.back() == Place::NodeList) {
        begin_node();
    } else if (places_.back() == Place::Attributes) {
        attribute_name_.clear();
        value_key_.clear();
        attribute_value_ = {};
        open(Place::Attribute);
    } else if (places_.back() == Place::Attribute && key_.ends_with("_list")) {
        value_key_ = key_;
        list_ = {};
        open(Place::AttributeList);
    } else if (places_.back() == Place::Node && key_ == "inputs") {
        open(Place::Inputs);
    } else {
        if (places_.back() == Place::Node && NodeAssembler::is_known(key_)) {
            nodes_.set(key_, AttributeValue::of_other("object"));
        }
        skipped_ = 1;
    }
}

void JsonEvents::end_object() {
    if (skipped_ > 0) {
        --skipped_;
        return;
    }
    const Place place = places_.back();
    places_.pop_back();
    if (place == Place::Node) {
        end_node();
    } else if (place == Place::Attribute) {
        end_attribute();
    } else if (place == Place::AttributeList) {
        if (list_.type == AttributeType::None) {  // protobuf leaves an empty list out
            list_.type = AttributeType::Flags;
        }
        attribute_value_ = std::move(list_);
    }
}

void JsonEvents::start_array() {
    if (skipped_ > 0) {
        ++skipped_;
        return;
    }
    if (places_.empty()) {
        open(Place::NodeList);
        return;
    }
    const bool in_node = places_.back() == Place::Node;
    if (in_node && is_node_list_key(key_) && places_.size() == 1) {
        has_node_list_ = true;
        first_object_ = false;
        open(Place::NodeList);
    } else if (in_node && is_parents_key(key_)) {
        has_node_members_ = true;
        open(Place::Parents);
    } else if (in_node && key_ == "attr") {
        open(Place::Attributes);
    } else if ((in_node && NodeAssembler::is_known(key_)) ||
               (places_.back() == Place::AttributeList && key_ == "values")) {
        list_ = {};
        list_.type = AttributeType::Flags;
        list_.type_name = "list of other things";
        open(Place::Values);
    } else {
        skipped_ = 1;
    }
}

void JsonEvents::end_array() {
    if (skipped_ > 0) {
        --skipped_;
        return;
    }
    const Place place = places_.back();
    places_.pop_back();
    if (place == Place::Values && places_.back() == Place::Node) {
        nodes_.set(key_, std::move(list_));
    } else if (place == Place::NodeList && !places_.empty()) {
        // The members of the container after its list must not look like those of a node.
        nodes_.begin();
        has_node_list_ = true;
        has_node_members_ = false;
    }
}

void JsonEvents::key(std::string_view name) {
    if (skipped_ == 0) {
        key_ = canonical(name);
    }
}

void JsonEvents::end_node() {
    const bool may_be_metadata = std::exchange(first_object_, false);
    if (has_node_list_) {
        return;
    }
    if (!has_node_members_ && (may_be_metadata || !versions_.empty())) {
        for (const std::string& version : versions_) {
            check_schema_version(version, nodes_);
        }
        return;
    }
    nodes_.finish();
}

void JsonEvents::end_attribute() {
    if (attribute_name_ == "schema" && attribute_value_.type == AttributeType::Text) {
        versions_.push_back(attribute_value_.text);
    }
    nodes_.set(attribute_name_, std::move(attribute_value_));
}

void JsonEvents::scalar(const JsonScalar& value) {
    if (skipped_ > 0) {
        return;
    }
    if (places_.empty()) {
        nodes_.begin();
        nodes_.fail("a JSON object or array is expected, not a single value");
    }
    switch (places_.back()) {
        case Place::Node:
            node_scalar(value);
            break;
        case Place::Parents:
            add_parent(value);
            break;
        case Place::Attribute:
            attribute_scalar(value);
            break;
        case Place::Values: {
            const bool flag = value.type == JsonScalar::Type::Boolean ||
                              (value.type == JsonScalar::Type::Integer && !value.negative &&
                               value.magnitude <= 1);
            if (flag && list_.type == AttributeType::Flags) {
                list_.flags.push_back(value.magnitude != 0);
            } else {
                list_.type = AttributeType::Other;
            }
            break;
        }
        case Place::Inputs:
            if (key_ == "values" && value.type == JsonScalar::Type::Text) {
                nodes_.set_input_values(value.text);
            }
            break;
        case Place::NodeList:
            nodes_.begin();
            nodes_.fail("a list of nodes holds something else than an object");
        case Place::Attributes:
        case Place::AttributeList:
            break;
    }
}

void JsonEvents::node_scalar(const JsonScalar& value) {
    if (value.type == JsonScalar::Type::Null) {
        return;
    }
    if (key_ == "id") {
        nodes_.node().id = id_of(value, "id");
        has_node_members_ = true;
    } else if (key_ == "name") {
        if (value.type != JsonScalar::Type::Text) {
            nodes_.fail("its name is not a string");
        }
        nodes_.node().name = value.text;
        has_node_members_ = true;
    } else if (key_ == "type") {
        set_type(value);
        has_node_members_ = true;
    } else if (is_parents_key(key_)) {
        has_node_members_ = true;
        add_parent(value);
    } else if (key_ == "version" && value.type == JsonScalar::Type::Text) {
        versions_.emplace_back(value.text);
    } else if (key_ == "duration_micros") {
        nodes_.set(key_, typed(value));  // protobuf's JSON writes 64-bit numbers as text
        has_node_members_ = true;
    } else if (key_ == "comm_type" && value.type == JsonScalar::Type::Text) {
        const std::optional<std::uint64_t> kind = find_name(kCollectiveNames, value.text);
        nodes_.set(key_, kind ? AttributeValue::of_unsigned(*kind, "integer") : plain(value));
    } else {
        nodes_.set(key_, plain(value));
    }
}

void JsonEvents::attribute_scalar(const JsonScalar& value) {
    if (key_ == "name" && value.type == JsonScalar::Type::Text) {
        attribute_name_ = value.text;
    } else if (key_.ends_with("_val")) {
        value_key_ = key_;
        attribute_value_ = typed(value);
    }
}

AttributeValue JsonEvents::typed(const JsonScalar& value) const {
    const bool integer_key = key_ == "duration_micros" || key_.find("int") != std::string::npos ||
                             key_.find("fixed") != std::string::npos;
    if (integer_key && value.type == JsonScalar::Type::Text) {
        if (std::optional<AttributeValue> number = integer_text(value.text, "integer")) {
            return std::move(*number);
        }
    }
    return plain(value);
}

std::uint64_t JsonEvents::id_of(const JsonScalar& value, const char* what) const {
    std::optional<AttributeValue> number;
    if (value.type == JsonScalar::Type::Integer) {
        number = plain(value);
    } else if (value.type == JsonScalar::Type::Text) {
        number = integer_text(value.text, "integer");
    }
    if (!number || number->negative) {
        nodes_.fail(std::string(what) + " is not a whole number of 0 or more");
    }
    return number->magnitude;
}

void JsonEvents::add_parent(const JsonScalar& value) {
    nodes_.node().parents.push_back(id_of(value, "a dependency"));
}

void JsonEvents::set_type(const JsonScalar& value) {
    if (value.type == JsonScalar::Type::Integer && !value.negative) {
        nodes_.set_type(value.magnitude);
        return;
    }
    if (value.type == JsonScalar::Type::Text) {
        std::string_view name = value.text;
        if (name.ends_with("_NODE")) {
            name.remove_suffix(5);
        }
        if (const std::optional<std::uint64_t> type = find_name(kTypeNames, name)) {
            nodes_.set_type(*type);
            return;
        }
        nodes_.fail("node type '" + printable(value.text) + "' is unknown");
    }
    nodes_.fail("its node type is neither a number of 0 or more nor a name");
}

}  // namespace astra
