// The events of a JSON parser, made into nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workload/node_assembler.h"

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

// Fed with the events of all documents of a file in order. Throws TraceError.
class JsonEvents {
  public:
    explicit JsonEvents(NodeAssembler& nodes) : nodes_(nodes) {}

    void start_object();
    void end_object();
    void start_array();
    void end_array();
    void key(std::string_view name);
    void scalar(const JsonScalar& value);
    bool too_deep() const { return places_.size() + skipped_ > kMostDepth; }

    static constexpr std::size_t kMostDepth = 64;

  private:
    enum class Place : std::uint8_t {
        NodeList,
        Node,  // an object that may turn out to be a container or GlobalMetadata
        Parents,
        Attributes,
        Attribute,      // {"name": …, "int64Val": …}
        AttributeList,  // {"values": […]}
        Values,         // a list that is the value of an attribute
        Inputs,
    };

    void open(Place place) { places_.push_back(place); }
    void begin_node();
    void end_node();
    void end_attribute();
    void node_scalar(const JsonScalar& value);
    void attribute_scalar(const JsonScalar& value);
    void add_parent(const JsonScalar& value);
    void set_type(const JsonScalar& value);
    std::uint64_t id_of(const JsonScalar& value, const char* what) const;
    AttributeValue typed(const JsonScalar& value) const;

    NodeAssembler& nodes_;
    std::vector<Place> places_;
    std::size_t skipped_ = 0;  // depth inside a part that does not matter
    std::string key_;
    bool first_object_ = true;
    bool has_node_members_ = false;
    bool has_node_list_ = false;
    std::vector<std::string> versions_;
    std::string attribute_name_;
    std::string value_key_;  // int64Val … of the attribute
    AttributeValue attribute_value_;
    AttributeValue list_;
};

}  // namespace astra
