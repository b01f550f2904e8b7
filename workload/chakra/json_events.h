// The events of a JSON parser, made into nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workload/chakra/json_values.h"
#include "workload/nodes/node_assembler.h"

namespace astra {

// Where the byte is that was read last; columns count bytes.
struct JsonPosition {
    std::uint64_t line = 1;
    std::uint64_t column = 0;
};

// Fed with the events of all documents of a file in order. Throws TraceError "file:line:column:
// rank r, node id (name): what", without the node where its id is not known yet.
class JsonEvents {
  public:
    JsonEvents(NodeAssembler& nodes, const JsonPosition& position)
        : nodes_(nodes), position_(position) {}

    void start_object();
    void end_object();
    void start_array();
    void end_array();
    void key(std::string_view name);
    void scalar(const JsonScalar& value);
    bool too_deep() const { return levels_.size() + skipped_ > kMostDepth; }

    static constexpr std::size_t kMostDepth = 64;
    static constexpr std::size_t kMostKeysSaid = 10;  // unknown ones, in warnings

  private:
    enum class Level : std::uint8_t {
        NodeList,
        Node,  // an object that may turn out to be a container or GlobalMetadata
        Parents,
        Attributes,
        Attribute,      // {"name": …, "int64Val": …}
        AttributeList,  // {"values": […]}
        Values,         // a list that is the value of an attribute
        Inputs,
    };

    // A key of a node that none of our readers knows, and where it stands.
    struct UnknownKey {
        std::string name;  // as the file spells it
        JsonPosition position;
        bool is_list = false;
    };

    [[noreturn]] void fail(const std::string& what) const { fail_at(position_, what); }
    [[noreturn]] void fail_at(const JsonPosition& position, const std::string& what) const;
    [[noreturn]] void fail_no_trace() const;
    void node_key(std::string_view name);
    void judge_unknown_keys();
    void open(Level level) { levels_.push_back(level); }
    void begin_node();
    void end_node();
    void begin_node_list();
    void end_attribute();
    void add_to_list(const JsonScalar& value);
    void node_scalar(const JsonScalar& value);
    void attribute_scalar(const JsonScalar& value);
    void skip(const char* what);
    void refuse_nested() const;
    void set_attribute_value(AttributeValue value);
    void set_id(const JsonScalar& value);
    void add_parent(const JsonScalar& value);
    void set_type(const JsonScalar& value);
    AttributeValue typed(const JsonScalar& value) const;
    [[noreturn]] void fail_parents() const;
    [[noreturn]] void fail_node_list() const;

    NodeAssembler& nodes_;
    const JsonPosition& position_;
    std::vector<Level> levels_;
    std::size_t skipped_ = 0;      // depth inside a part that does not matter
    std::string key_;              // snake_case
    bool key_is_unknown_ = false;  // of the node
    bool first_object_ = true;
    bool has_node_members_ = false;
    bool has_id_ = false;
    bool has_type_ = false;
    bool has_attributes_ = false;  // the node is spelt as protobuf spells it
    bool has_node_list_ = false;
    bool has_keys_ = false;                    // the node has any
    std::vector<std::string> keys_;            // of the node, those that matter
    std::vector<UnknownKey> unknown_keys_;     // of the node
    std::vector<std::string> without_effect_;  // keys of this kind that were said
    std::vector<std::string> versions_;
    std::string attribute_name_;
    AttributeValue attribute_value_;
    AttributeValue list_;
};

}  // namespace astra
