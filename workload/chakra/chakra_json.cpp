#include "workload/chakra/chakra_json.h"

#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <vector>

#include <chakra.pb.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "astra/core/error.h"
#include "astra/core/formats/file_format.h"
#include "astra/core/text/nearest.h"
#include "workload/chakra/chakra_records.h"
#include "workload/chakra/json_values.h"
#include "workload/graph/messages.h"

namespace astra {

namespace {

using ChakraProtoMsg::AttributeProto;
using Json = nlohmann::ordered_json;

// The types of attributes that have a value and a list, as the messages spell them.
#define ASTRA_ATTRIBUTE_TYPES(one)                                                                \
    one(double, Double) one(float, Float) one(int32, Int32) one(int64, Int64) one(uint32, Uint32) \
        one(uint64, Uint64) one(sint32, Sint32) one(sint64, Sint64) one(fixed32, Fixed32)         \
            one(fixed64, Fixed64) one(sfixed32, Sfixed32) one(sfixed64, Sfixed64) one(bool, Bool) \
                one(string, String)

Json of_value(bool value) {
    return value;
}
Json of_value(double value) {
    if (std::isnan(value)) {
        return "NaN";
    }
    return std::isinf(value) ? Json(value > 0 ? "Infinity" : "-Infinity") : Json(value);
}
Json of_value(const std::string& value) {
    return value;
}
Json of_value(std::int32_t value) {
    return value;
}
Json of_value(std::uint32_t value) {
    return value;
}
// 64 bits are text: many readers take numbers for doubles.
Json of_value(std::int64_t value) {
    return std::to_string(value);
}
Json of_value(std::uint64_t value) {
    return std::to_string(value);
}

template <typename List>
Json of_list(const List& list) {
    Json values = Json::array();
    for (const auto& value : list.values()) {
        values.push_back(of_value(value));
    }
    Json result = Json::object();
    result["values"] = std::move(values);
    return result;
}

Json of_attributes(const google::protobuf::RepeatedPtrField<AttributeProto>& attributes) {
    Json result = Json::array();
    for (const AttributeProto& attribute : attributes) {
        Json& one = result.emplace_back(Json::object());
        one["name"] = attribute.name();
        if (!attribute.doc_string().empty()) {
            one["docString"] = attribute.doc_string();
        }
        switch (attribute.value_case()) {
#define ASTRA_ATTRIBUTE_TYPE(name, Name)                      \
    case AttributeProto::k##Name##Val:                        \
        one[#name "Val"] = of_value(attribute.name##_val());  \
        break;                                                \
    case AttributeProto::k##Name##List:                       \
        one[#name "List"] = of_list(attribute.name##_list()); \
        break;
            ASTRA_ATTRIBUTE_TYPES(ASTRA_ATTRIBUTE_TYPE)
#undef ASTRA_ATTRIBUTE_TYPE
            case AttributeProto::kBytesVal:
            case AttributeProto::kBytesList:
                throw InputError(fmt::format("attribute {} is of bytes, which JSON cannot hold",
                                             printable(attribute.name())));
            default:
                break;
        }
    }
    return result;
}

void put_io(Json& document, const char* name, const ChakraProtoMsg::IOInfo& io) {
    document[name] = {{"values", io.values()}, {"shapes", io.shapes()}, {"types", io.types()}};
}

Json of_node(const ChakraProtoMsg::Node& node) {
    Json document = {{"id", of_value(std::uint64_t{node.id()})},
                     {"name", node.name()},
                     {"type", static_cast<int>(node.type())}};
    const auto put_parents = [&](const char* name, const auto& parents) {
        if (!parents.empty()) {
            Json& list = document[name] = Json::array();
            for (const std::uint64_t parent : parents) {
                list.push_back(of_value(parent));
            }
        }
    };
    put_parents("ctrlDeps", node.ctrl_deps());
    put_parents("dataDeps", node.data_deps());
    if (node.start_time_micros() != 0) {
        document["startTimeMicros"] = of_value(std::uint64_t{node.start_time_micros()});
    }
    if (node.duration_micros() != 0) {
        document["durationMicros"] = of_value(std::uint64_t{node.duration_micros()});
    }
    if (node.has_inputs()) {
        put_io(document, "inputs", node.inputs());
    }
    if (node.has_outputs()) {
        put_io(document, "outputs", node.outputs());
    }
    document["attr"] = of_attributes(node.attr());
    return document;
}

// --- and back ---

template <typename Integer>
void set_integer(const Json& value, Integer& target) {
    const bool text = value.is_string();
    const std::string digits = text ? value.get<std::string>() : value.dump();
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), target);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) {
        throw InputError(
            fmt::format("{} is not a whole number within its type", printable(value.dump())));
    }
}
void set(const Json& value, std::int32_t& target) {
    set_integer(value, target);
}
void set(const Json& value, std::int64_t& target) {
    set_integer(value, target);
}
void set(const Json& value, std::uint32_t& target) {
    set_integer(value, target);
}
void set(const Json& value, std::uint64_t& target) {
    set_integer(value, target);
}
void set(const Json& value, bool& target) {
    target = value.get<bool>();
}
void set(const Json& value, std::string& target) {
    target = value.get<std::string>();
}
void set(const Json& value, double& target) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (!value.is_string()) {
        target = value.get<double>();
        return;
    }
    const std::string word = value.get<std::string>();
    if (word == "NaN" || word == "Infinity" || word == "-Infinity") {
        target = word == "NaN" ? std::numeric_limits<double>::quiet_NaN()
                               : (word == "Infinity" ? infinity : -infinity);
        return;
    }
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), target);
    if (parsed.ec != std::errc() || parsed.ptr != word.data() + word.size()) {
        throw InputError(
            fmt::format("{} is not a number within a double's range", printable(value.dump())));
    }
}
void set(const Json& value, float& target) {
    double wide = 0;
    set(value, wide);
    target = static_cast<float>(wide);
}

[[noreturn]] void refuse_member(const std::string& key) {
    throw InputError(fmt::format("member '{}' is none of the message", printable(key)));
}

void fill(const Json& document, AttributeProto& attribute) {
    for (const auto& [key, value] : document.items()) {
        const std::string name = canonical_key(key);
        if (name == "name") {
            attribute.set_name(value.get<std::string>());
        } else if (name == "doc_string") {
            attribute.set_doc_string(value.get<std::string>());
        }
#define ASTRA_ATTRIBUTE_TYPE(type, Type)                      \
    else if (name == #type "_val") {                          \
        std::decay_t<decltype(attribute.type##_val())> one{}; \
        set(value, one);                                      \
        attribute.set_##type##_val(one);                      \
    }                                                         \
    else if (name == #type "_list") {                         \
        auto& list = *attribute.mutable_##type##_list();      \
        for (const Json& element : value.at("values")) {      \
            std::decay_t<decltype(list.values(0))> one{};     \
            set(element, one);                                \
            list.add_values(one);                             \
        }                                                     \
    }
        ASTRA_ATTRIBUTE_TYPES(ASTRA_ATTRIBUTE_TYPE)
#undef ASTRA_ATTRIBUTE_TYPE
        else {
            refuse_member(key);
        }
    }
}

template <typename Message>
void fill_attributes(const Json& list, Message& message) {
    for (const Json& one : list) {
        fill(one, *message.add_attr());
    }
}

void fill(const Json& document, ChakraProtoMsg::IOInfo& io) {
    io.set_values(document.value("values", ""));
    io.set_shapes(document.value("shapes", ""));
    io.set_types(document.value("types", ""));
}

std::uint64_t whole(const Json& value) {
    std::uint64_t result = 0;
    set(value, result);
    return result;
}

ChakraProtoMsg::NodeType type_of(const Json& value) {
    const auto number = value.is_string() ? node_type_number(value.get<std::string>())
                                          : std::optional(whole(value));
    if (!number || *number > ChakraProtoMsg::COMM_COLL_NODE) {
        throw InputError(fmt::format("{} is no type of a node", printable(value.dump())));
    }
    return static_cast<ChakraProtoMsg::NodeType>(*number);
}

void fill(const Json& document, ChakraProtoMsg::Node& node) {
    for (const auto& [key, value] : document.items()) {
        const std::string name = canonical_key(key);
        if (name == "id") {
            node.set_id(whole(value));
        } else if (name == "name") {
            node.set_name(value.get<std::string>());
        } else if (name == "type") {
            node.set_type(type_of(value));
        } else if (name == "ctrl_deps" || name == "data_deps") {
            for (const Json& parent : value) {
                name == "ctrl_deps" ? node.add_ctrl_deps(whole(parent))
                                    : node.add_data_deps(whole(parent));
            }
        } else if (name == "start_time_micros") {
            node.set_start_time_micros(whole(value));
        } else if (name == "duration_micros") {
            node.set_duration_micros(whole(value));
        } else if (name == "inputs") {
            fill(value, *node.mutable_inputs());
        } else if (name == "outputs") {
            fill(value, *node.mutable_outputs());
        } else if (name == "attr") {
            fill_attributes(value, node);
        } else {
            refuse_member(key);
        }
    }
}

std::string message_of(const Json& document, bool first) {
    if (!document.is_object()) {
        throw InputError("is no object");
    }
    if (first && !document.contains("id") && !document.contains("type")) {
        ChakraProtoMsg::GlobalMetadata metadata;
        for (const auto& [key, value] : document.items()) {
            if (key == "version") {
                metadata.set_version(value.get<std::string>());
            } else if (key == "attr") {
                fill_attributes(value, metadata);
            } else {
                refuse_member(key);
            }
        }
        return metadata.SerializeAsString();
    }
    ChakraProtoMsg::Node node;
    fill(document, node);
    return node.SerializeAsString();
}

}  // namespace

void chakra_to_json(const std::string& chakra, const std::string& json) {
    ByteSource source(chakra);
    refuse_other_formats(source, FilePurpose::Trace);
    ChakraRecords records(source);
    std::string out;
    ChakraProtoMsg::Node node;
    ChakraProtoMsg::GlobalMetadata metadata;
    while (records.next()) {
        const std::string bytes(records.record());
        try {
            Json document;
            if (records.is_metadata()) {
                if (!metadata.ParseFromString(bytes)) {
                    records.fail("is neither Chakra's GlobalMetadata nor a Node");
                }
                document["version"] = metadata.version();
                document["attr"] = of_attributes(metadata.attr());
            } else {
                if (!node.ParseFromString(bytes)) {
                    records.fail("is not a Chakra node; a damaged file");
                }
                document = of_node(node);
            }
            out += document.dump() + "\n";
        } catch (const nlohmann::json::exception&) {
            records.fail("has text that is not UTF-8, which JSON cannot hold");
        } catch (const TraceError&) {
            throw;
        } catch (const InputError& error) {
            records.fail(error.what());
        }
    }
    write_chakra_file(json, out);
}

void json_to_chakra(const std::string& json, const std::string& chakra) {
    std::ifstream in(json, std::ios::binary);
    if (!in) {
        throw TraceError(json + ": cannot be read");
    }
    if (const std::string refusal = format_refusal_of_file(json, FilePurpose::Trace);
        !refusal.empty()) {
        throw TraceError(json + ": " + refusal);
    }
    std::string bytes;
    for (std::uint64_t number = 1; in >> std::ws && !in.eof(); ++number) {
        try {
            Json document;
            in >> document;
            append_chakra_record(message_of(document, number == 1), bytes);
        } catch (const std::exception& error) {
            throw TraceError(
                fmt::format("{}: document {}: {}", json, number, printable(error.what())));
        }
    }
    if (bytes.empty()) {
        throw TraceError(json + ": the file is empty");
    }
    write_chakra_file(chakra, bytes);
}

}  // namespace astra
