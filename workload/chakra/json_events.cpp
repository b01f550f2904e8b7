#include "workload/chakra/json_events.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "astra/core/error.h"
#include "astra/core/text/nearest.h"
#include "workload/chakra/chakra_reader.h"
#include "workload/graph/messages.h"

namespace astra {
namespace {

bool is_parents_key(std::string_view key) {
    return key == "ctrl_deps" || key == "data_deps";
}

bool is_node_list_key(std::string_view key) {
    return key == "workload_graph" || key == "nodes" || key == "node";
}

// Whether two values under one key of a node could mean two things.
bool matters(std::string_view key) {
    return key == "id" || key == "name" || key == "type" || key == "attr" || key == "inputs" ||
           is_parents_key(key) || is_node_list_key(key) || NodeAssembler::is_known(key);
}

// What writers of Chakra put on nodes and no simulation needs.
bool is_without_meaning(std::string_view key) {
    constexpr std::array<std::string_view, 31> keys = {"version",
                                                       "doc_string",
                                                       "rf_id",
                                                       "fw_parent",
                                                       "seq_id",
                                                       "scope",
                                                       "fw_tid",
                                                       "op_schema",
                                                       "op_type",
                                                       "tensor_loc",
                                                       "outputs",
                                                       "input_shapes",
                                                       "input_types",
                                                       "output_shapes",
                                                       "output_types",
                                                       "pid",
                                                       "cat",
                                                       "ph",
                                                       "inclusive_dur",
                                                       "exclusive_dur",
                                                       "ev_idx",
                                                       "external_id",
                                                       "kernel_backend",
                                                       "kernel_file",
                                                       "pg_desc",
                                                       "msg_chunk_cnt",
                                                       "msg_chunk_idx",
                                                       "total_chunk_cnt",
                                                       "chunk_offset",
                                                       "local_time_step",
                                                       "tb_id"};
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// The keys of a node that mean something, as messages spell them.
std::vector<std::string> node_keys() {
    std::vector<std::string> keys = {"id",
                                     "name",
                                     "type",
                                     "NodeType",
                                     "ctrl_deps",
                                     "data_deps",
                                     "inputs",
                                     "outputs",
                                     "attr",
                                     "runtime",
                                     "workload_graph"};
    for (const std::string_view name : NodeAssembler::names()) {
        keys.emplace_back(name);
    }
    return keys;
}

// Whether a list under that name would be one of other nodes.
bool sounds_like_nodes(std::string_view key) {
    constexpr std::array<std::string_view, 13> parts = {"dep",
                                                        "parent",
                                                        "child",
                                                        "pred",
                                                        "succ",
                                                        "after",
                                                        "before",
                                                        "wait",
                                                        "edge",
                                                        "req",
                                                        "prev",
                                                        "next",
                                                        "follow"};
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
        return key.find(part) != std::string_view::npos;
    });
}

// The types of attributes in protobuf's JSON, whose values are `<type>_val` and `<type>_list`.
constexpr std::array<std::string_view, 15> kAttributeTypes = {"double",
                                                              "float",
                                                              "int32",
                                                              "int64",
                                                              "uint32",
                                                              "uint64",
                                                              "sint32",
                                                              "sint64",
                                                              "fixed32",
                                                              "fixed64",
                                                              "sfixed32",
                                                              "sfixed64",
                                                              "bool",
                                                              "string",
                                                              "bytes"};

bool is_attribute_key(std::string_view key) {
    for (const std::string_view end : {std::string_view("_val"), std::string_view("_list")}) {
        if (key.ends_with(end)) {
            key.remove_suffix(end.size());
            return std::find(kAttributeTypes.begin(), kAttributeTypes.end(), key) !=
                   kAttributeTypes.end();
        }
    }
    return key == "name" || key == "doc_string";
}

std::vector<std::string> attribute_keys() {
    std::vector<std::string> keys = {"name", "doc_string"};
    for (const std::string_view type : kAttributeTypes) {
        keys.push_back(std::string(type) + "_val");
        keys.push_back(std::string(type) + "_list");
    }
    return keys;
}

}  // namespace

void JsonEvents::fail_at(const JsonPosition& position, const std::string& what) const {
    const TraceContext& context = nodes_.context();
    const TraceNode& node = nodes_.node();
    const std::string at =
        context.file + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
    throw TraceError((has_id_ ? node_place(at, context.rank, node.id, node.name)
                              : at + ": rank " + std::to_string(context.rank)) +
                     ": " + what);
}

void JsonEvents::fail_no_trace() const {
    fail(
        "is JSON, but no Chakra trace: it has neither nodes (workload_graph, or an object with id "
        "and type for each) nor a version; docs/formats.md has what is read");
}

void JsonEvents::begin_node() {
    nodes_.begin();
    has_node_members_ = false;
    has_id_ = false;
    has_type_ = false;
    has_attributes_ = false;
    has_keys_ = false;
    unknown_keys_.clear();
    has_node_list_ = false;
    keys_.clear();
    versions_.clear();
    open(Level::Node);
}

void JsonEvents::begin_node_list() {
    if (has_node_list_) {
        fail("'" + key_ + "' is a second list of nodes");
    }
    has_node_list_ = true;
    first_object_ = false;
    open(Level::NodeList);
}

void JsonEvents::start_object() {
    if (skipped_ > 0) {
        ++skipped_;
    } else if (levels_.empty() || levels_.back() == Level::NodeList) {
        begin_node();
    } else if (levels_.back() == Level::Attributes) {
        attribute_name_.clear();
        attribute_value_ = {};
        open(Level::Attribute);
    } else if (levels_.back() == Level::Attribute && key_.ends_with("_list")) {
        list_ = {};
        open(Level::AttributeList);
    } else if (levels_.back() == Level::Node && key_ == "inputs") {
        open(Level::Inputs);
    } else {
        skip("object");
    }
}

void JsonEvents::end_object() {
    if (skipped_ > 0) {
        --skipped_;
        return;
    }
    const Level level = levels_.back();
    levels_.pop_back();
    if (level == Level::Node) {
        end_node();
    } else if (level == Level::Attribute) {
        end_attribute();
    } else if (level == Level::AttributeList) {
        if (list_.type == AttributeType::None) {  // protobuf leaves an empty list out
            list_.type = AttributeType::Flags;
        }
        set_attribute_value(std::move(list_));
    }
}

void JsonEvents::start_array() {
    if (skipped_ > 0) {
        ++skipped_;
        return;
    }
    if (levels_.empty()) {
        open(Level::NodeList);
        return;
    }
    if (levels_.back() == Level::Node && key_is_unknown_) {
        unknown_keys_.back().is_list = true;
    }
    const bool in_node = levels_.back() == Level::Node;
    if (in_node && is_node_list_key(key_) && levels_.size() == 1) {
        begin_node_list();
    } else if (in_node && is_parents_key(key_)) {
        has_node_members_ = true;
        open(Level::Parents);
    } else if (in_node && key_ == "attr") {
        has_attributes_ = true;
        open(Level::Attributes);
    } else if ((in_node && NodeAssembler::is_known(key_)) ||
               (levels_.back() == Level::AttributeList && key_ == "values")) {
        list_ = {};
        list_.type = AttributeType::Flags;
        list_.type_name = "list of other things";
        open(Level::Values);
    } else {
        skip("list");
    }
}

void JsonEvents::end_array() {
    if (skipped_ > 0) {
        --skipped_;
        return;
    }
    const Level level = levels_.back();
    levels_.pop_back();
    if (level == Level::Values && levels_.back() == Level::Node) {
        nodes_.set(key_, std::move(list_));
        has_node_members_ = true;
    } else if (level == Level::NodeList && !levels_.empty()) {
        // The members of the container after its list must not look like those of a node.
        nodes_.begin();
        has_node_list_ = true;
        has_node_members_ = false;
        has_id_ = false;
        has_type_ = false;
        keys_.clear();
        unknown_keys_.clear();
    }
}

// An object or a list where none is expected: what it holds does not matter, but where it stands
// may be wrong.
void JsonEvents::skip(const char* what) {
    switch (levels_.back()) {
        case Level::NodeList:
            fail(std::string("a list of nodes holds a ") + what + "; objects are expected");
        case Level::Parents:
            fail_parents();
        case Level::Attributes:
            fail(std::string("'attr' holds a ") + what + "; objects are expected");
        case Level::Node:
            refuse_nested();
            if (NodeAssembler::is_known(key_)) {
                nodes_.set(key_, AttributeValue::of_other(what));
                has_node_members_ = true;
            }
            break;
        case Level::Attribute:
            if (key_.ends_with("_val") || key_.ends_with("_list")) {
                set_attribute_value(AttributeValue::of_other(what));
            }
            break;
        case Level::AttributeList:
        case Level::Values:
            list_.type = AttributeType::Other;
            list_.type_name = "list of other things";
            break;
        case Level::Inputs:
            break;
    }
    skipped_ = 1;
}

void JsonEvents::refuse_nested() const {
    if (is_parents_key(key_)) {
        fail_parents();
    } else if (key_ == "workload_graph") {
        fail_node_list();
    } else if (key_ == "id") {
        fail("id is not a whole number of 0 or more");
    } else if (key_ == "name") {
        fail("its name is not a string");
    } else if (key_ == "type") {
        fail("its node type is neither a number of 0 or more nor a name");
    } else if (key_ == "attr") {
        fail("'attr' is not a list of attributes");
    }
}

void JsonEvents::key(std::string_view name) {
    if (skipped_ > 0) {
        return;
    }
    key_ = canonical_key(name);
    if (levels_.back() == Level::Node) {
        node_key(name);
    } else if (levels_.back() == Level::Attribute) {
        if (!is_attribute_key(key_)) {
            fail("the key '" + printable(name) + "' of an attribute is unknown" +
                 suggestion(key_, attribute_keys()));
        }
    } else if (levels_.back() == Level::AttributeList && key_ != "values") {
        fail("the key '" + printable(name) + "' of a list is unknown; 'values' is expected");
    }
}

void JsonEvents::node_key(std::string_view name) {
    has_keys_ = true;
    key_is_unknown_ = false;
    if (!matters(key_)) {
        key_is_unknown_ = !is_without_meaning(key_);
        if (key_is_unknown_) {
            unknown_keys_.push_back({std::string(name), position_});
        }
        return;
    }
    if (std::find(keys_.begin(), keys_.end(), key_) != keys_.end()) {
        fail("the key '" + key_ + "' is given twice");
    }
    if (key_ == "workload_graph" && levels_.size() > 1) {
        fail("'workload_graph' within a list of nodes");
    }
    keys_.push_back(key_);
}

// Of a node. A misspelt key must not change what the trace means without a word.
void JsonEvents::judge_unknown_keys() {
    for (const UnknownKey& key : unknown_keys_) {
        std::vector<std::string> candidates = node_keys();
        std::erase_if(candidates, [&](const std::string& name) {
            return std::find(keys_.begin(), keys_.end(), canonical_key(name)) != keys_.end();
        });
        const std::string nearest = nearest_name(key.name, candidates);
        if (!nearest.empty()) {
            fail_at(key.position,
                    "the key '" + printable(key.name) + "' is unknown; did you mean '" + nearest +
                        "'?");
        }
        if (key.is_list && sounds_like_nodes(canonical_key(key.name))) {
            fail_at(key.position,
                    "the key '" + printable(key.name) +
                        "' is unknown; what a node waits for stands in data_deps and ctrl_deps");
        }
        if (std::find(without_effect_.begin(), without_effect_.end(), key.name) ==
                without_effect_.end() &&
            without_effect_.size() < kMostKeysSaid) {
            without_effect_.push_back(key.name);
            nodes_.warnings().add(nodes_.context().file + ": the key '" + printable(key.name) +
                                  "' of a node is unknown and has no effect");
        }
    }
}

void JsonEvents::end_node() {
    const bool may_be_metadata = std::exchange(first_object_, false);
    if (has_node_list_) {
        has_node_list_ = false;
        return;
    }
    // What says what a node does, or what GlobalMetadata says.
    const bool tells = has_id_ || has_type_ || has_attributes_ || !versions_.empty();
    if (levels_.empty() && has_keys_ && !tells) {
        fail_no_trace();
    }
    const bool is_metadata =
        !versions_.empty() || (may_be_metadata && (has_attributes_ || !has_keys_));
    if (!has_node_members_ && is_metadata) {
        for (const std::string& version : versions_) {
            check_schema_version(version, nodes_);
        }
        return;
    }
    // Protobuf's own JSON leaves out an id of 0.
    if (!has_id_ && !has_attributes_) {
        const std::string& name = nodes_.node().name;
        fail(name.empty() ? "a node has no id" : "the node '" + printable(name) + "' has no id");
    }
    judge_unknown_keys();
    // It leaves out the type INVALID, too.
    if (!has_type_ && !has_attributes_) {
        fail("the node has no type (type or NodeType: 0 INVALID to 7 COMM_COLL)");
    }
    nodes_.finish();
    has_id_ = false;
    has_attributes_ = false;
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
    if (levels_.empty()) {
        fail("a JSON trace is an object or a list");
    }
    switch (levels_.back()) {
        case Level::Node:
            node_scalar(value);
            break;
        case Level::Parents:
            add_parent(value);
            break;
        case Level::Attribute:
            attribute_scalar(value);
            break;
        case Level::Values:
            add_to_list(value);
            break;
        case Level::Inputs:
            if (key_ == "values" && value.type == JsonScalar::Type::Text) {
                nodes_.set_input_values(value.text);
            }
            break;
        case Level::NodeList:
            fail("a list of nodes holds a single value; objects are expected");
        case Level::Attributes:
            fail("'attr' holds a single value; objects are expected");
        case Level::AttributeList:
            if (key_ == "values" && value.type != JsonScalar::Type::Null) {
                list_ = AttributeValue::of_other("single value");
            }
            break;
    }
}

void JsonEvents::add_to_list(const JsonScalar& value) {
    // Protobuf's JSON writes 64-bit numbers as text.
    const bool in_attribute = levels_[levels_.size() - 2] == Level::AttributeList;
    const std::optional<std::uint64_t> number =
        value.type == JsonScalar::Type::Boolean                 ? value.magnitude
        : value.type == JsonScalar::Type::Text && !in_attribute ? std::nullopt
                                                                : count_of(value);
    if (number && list_.type != AttributeType::Other) {
        list_.append(*number);
    } else {
        list_.type = AttributeType::Other;
    }
}

void JsonEvents::node_scalar(const JsonScalar& value) {
    if (key_ == "workload_graph") {
        fail_node_list();
    }
    if (value.type == JsonScalar::Type::Null) {
        return;
    }
    if (key_ == "id") {
        set_id(value);
    } else if (key_ == "name") {
        if (value.type != JsonScalar::Type::Text) {
            refuse_nested();
        }
        nodes_.node().name = value.text;
    } else if (key_ == "type") {
        set_type(value);
    } else if (is_parents_key(key_) || key_ == "attr") {
        refuse_nested();
    } else if (key_ == "duration_micros" || key_ == "start_time_micros") {
        nodes_.set(key_, typed(value));  // protobuf's JSON writes 64-bit numbers as text
    } else if (key_ == "comm_type" && value.type == JsonScalar::Type::Text) {
        const std::optional<std::uint64_t> kind = collective_number(value.text);
        nodes_.set(key_,
                   kind ? AttributeValue::of_unsigned(*kind, "integer") : value_of_scalar(value));
    } else if (NodeAssembler::is_known(key_)) {
        nodes_.set(key_, value_of_scalar(value));
    } else {
        if (key_ == "version" && value.type == JsonScalar::Type::Text) {
            versions_.emplace_back(value.text);
        }
        return;
    }
    has_node_members_ = true;
}

void JsonEvents::attribute_scalar(const JsonScalar& value) {
    if (key_ == "name" && value.type == JsonScalar::Type::Text) {
        if (!attribute_name_.empty()) {
            fail("an attribute has two names");
        }
        attribute_name_ = value.text;
    } else if (key_.ends_with("_val")) {
        set_attribute_value(typed(value));
    }
}

void JsonEvents::set_attribute_value(AttributeValue value) {
    if (value.type == AttributeType::None) {
        return;
    }
    if (attribute_value_.type != AttributeType::None) {
        fail("an attribute has two values");
    }
    attribute_value_ = std::move(value);
}

AttributeValue JsonEvents::typed(const JsonScalar& value) const {
    const bool integer_key = key_.ends_with("_micros") || key_.find("int") != std::string::npos ||
                             key_.find("fixed") != std::string::npos;
    if (integer_key && value.type == JsonScalar::Type::Text) {
        if (std::optional<AttributeValue> number = integer_of_text(value.text)) {
            return std::move(*number);
        }
    }
    return value_of_scalar(value);
}

void JsonEvents::set_id(const JsonScalar& value) {
    const std::optional<std::uint64_t> id = count_of(value);
    if (!id) {
        refuse_nested();
    }
    nodes_.node().id = id.value_or(0);
    has_id_ = true;
}

void JsonEvents::add_parent(const JsonScalar& value) {
    const std::optional<std::uint64_t> parent = count_of(value);
    if (!parent) {
        fail_parents();
    }
    nodes_.node().parents.push_back(*parent);
}

void JsonEvents::fail_parents() const {
    fail("'" + key_ + "' is not a list of whole numbers of 0 or more");
}

void JsonEvents::fail_node_list() const {
    fail("'workload_graph' is not a list of nodes");
}

void JsonEvents::set_type(const JsonScalar& value) {
    has_type_ = true;
    if (value.type == JsonScalar::Type::Integer && !value.negative) {
        nodes_.set_type(value.magnitude);
        return;
    }
    if (value.type == JsonScalar::Type::Text) {
        if (const std::optional<std::uint64_t> type = node_type_number(value.text)) {
            nodes_.set_type(*type);
            return;
        }
        fail("node type '" + printable(value.text) + "' is unknown");
    }
    refuse_nested();
}

}  // namespace astra
