#include "workload/chakra/chakra_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <type_traits>
#include <utility>

#include <chakra.pb.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "astra/core/error.h"
#include "workload/chakra/chakra_records.h"
#include "workload/graph/messages.h"

namespace astra {
namespace {

using ChakraProtoMsg::AttributeProto;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr int kLastNodeField = 10;
constexpr std::array<std::string_view, 6> kKnownVersions = {"",
                                                            "0.0.4",
                                                            "1.0.2-chakra.0.0.4",
                                                            "1.1.0-chakra.0.0.4",
                                                            "1.0.2-chakra.1.0.0",
                                                            "symbolic_tensor_network"};

template <typename Number>
bool is_negative(Number number) {
    if constexpr (std::is_signed_v<Number>) {
        return number < 0;
    } else {
        return false;
    }
}

template <typename List>
AttributeValue numbers_of(const List& list, const char* type_name) {
    AttributeValue value = AttributeValue::of_list(type_name);
    for (const auto element : list.values()) {
        if (is_negative(element)) {
            return AttributeValue::of_other(type_name);
        }
        value.append(static_cast<std::uint64_t>(element));
    }
    return value;
}

AttributeValue list_of(const AttributeProto& attribute) {
    switch (attribute.value_case()) {
        case AttributeProto::kInt32List:
            return numbers_of(attribute.int32_list(), "int32_list");
        case AttributeProto::kInt64List:
            return numbers_of(attribute.int64_list(), "int64_list");
        case AttributeProto::kUint32List:
            return numbers_of(attribute.uint32_list(), "uint32_list");
        case AttributeProto::kUint64List:
            return numbers_of(attribute.uint64_list(), "uint64_list");
        case AttributeProto::kSint32List:
            return numbers_of(attribute.sint32_list(), "sint32_list");
        case AttributeProto::kSint64List:
            return numbers_of(attribute.sint64_list(), "sint64_list");
        case AttributeProto::kFixed32List:
            return numbers_of(attribute.fixed32_list(), "fixed32_list");
        case AttributeProto::kFixed64List:
            return numbers_of(attribute.fixed64_list(), "fixed64_list");
        case AttributeProto::kSfixed32List:
            return numbers_of(attribute.sfixed32_list(), "sfixed32_list");
        case AttributeProto::kSfixed64List:
            return numbers_of(attribute.sfixed64_list(), "sfixed64_list");
        case AttributeProto::kBoolList:
            return numbers_of(attribute.bool_list(), "bool_list");
        case AttributeProto::kDoubleList:
            return AttributeValue::of_other("double_list");
        case AttributeProto::kFloatList:
            return AttributeValue::of_other("float_list");
        case AttributeProto::kStringList:
            return AttributeValue::of_other("string_list");
        case AttributeProto::kBytesList:
            return AttributeValue::of_other("bytes_list");
        default:
            return {};
    }
}

AttributeValue value_of(const AttributeProto& attribute) {
    switch (attribute.value_case()) {
        case AttributeProto::kDoubleVal:
            return AttributeValue::of_number(attribute.double_val(), "double");
        case AttributeProto::kFloatVal:
            return AttributeValue::of_number(static_cast<double>(attribute.float_val()), "float");
        case AttributeProto::kInt32Val:
            return AttributeValue::of_signed(attribute.int32_val(), "int32");
        case AttributeProto::kInt64Val:
            return AttributeValue::of_signed(attribute.int64_val(), "int64");
        case AttributeProto::kUint32Val:
            return AttributeValue::of_unsigned(attribute.uint32_val(), "uint32");
        case AttributeProto::kUint64Val:
            return AttributeValue::of_unsigned(attribute.uint64_val(), "uint64");
        case AttributeProto::kSint32Val:
            return AttributeValue::of_signed(attribute.sint32_val(), "sint32");
        case AttributeProto::kSint64Val:
            return AttributeValue::of_signed(attribute.sint64_val(), "sint64");
        case AttributeProto::kFixed32Val:
            return AttributeValue::of_unsigned(attribute.fixed32_val(), "fixed32");
        case AttributeProto::kFixed64Val:
            return AttributeValue::of_unsigned(attribute.fixed64_val(), "fixed64");
        case AttributeProto::kSfixed32Val:
            return AttributeValue::of_signed(attribute.sfixed32_val(), "sfixed32");
        case AttributeProto::kSfixed64Val:
            return AttributeValue::of_signed(attribute.sfixed64_val(), "sfixed64");
        case AttributeProto::kBoolVal:
            return AttributeValue::of_boolean(attribute.bool_val(), "bool");
        case AttributeProto::kStringVal:
            return AttributeValue::of_text(attribute.string_val(), "string");
        case AttributeProto::kBytesVal:
            return AttributeValue::of_text(attribute.bytes_val(), "bytes");
        default:
            return list_of(attribute);
    }
}

// Bit k: field k of a Node may be a number, or a text or packed list.
constexpr std::uint32_t kNumbers = 1U << 1U | 1U << 3U | 1U << 4U | 1U << 5U | 1U << 6U | 1U << 7U;
constexpr std::uint32_t kTexts = 1U << 2U | 1U << 4U | 1U << 5U | 1U << 8U | 1U << 9U | 1U << 10U;

bool is_node_field(int field, WireFormatLite::WireType type) {
    if (field > kLastNodeField) {
        return false;
    }
    const std::uint32_t bit = 1U << static_cast<std::uint32_t>(field);
    return (type == WireFormatLite::WIRETYPE_VARINT && (kNumbers & bit) != 0) ||
           (type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED && (kTexts & bit) != 0);
}

// Whether a node has fields that the schema does not know, or with other types.
bool has_foreign_fields(std::string_view record) {
    CodedInputStream input(reinterpret_cast<const std::uint8_t*>(record.data()),
                           static_cast<int>(record.size()));
    while (const std::uint32_t tag = input.ReadTag()) {
        if (!is_node_field(WireFormatLite::GetTagFieldNumber(tag),
                           WireFormatLite::GetTagWireType(tag))) {
            return true;
        }
        if (!WireFormatLite::SkipField(&input, tag)) {
            break;
        }
    }
    return false;
}

class Reader {
  public:
    Reader(ByteSource& source, NodeAssembler& nodes) : records_(source), nodes_(nodes) {}

    void run() {
        while (records_.next()) {
            if (records_.is_metadata()) {
                read_metadata();
            } else {
                read_node();
            }
        }
    }

  private:
    void read_metadata() {
        ChakraProtoMsg::GlobalMetadata metadata;
        if (!metadata.ParseFromArray(records_.record().data(),
                                     static_cast<int>(records_.record().size()))) {
            records_.fail(
                "is neither Chakra's GlobalMetadata nor a Node; not a Chakra trace or a damaged "
                "one");
        }
        check_schema_version(metadata.version(), nodes_);
        for (const AttributeProto& attribute : metadata.attr()) {
            if (attribute.name() == "schema" &&
                attribute.value_case() == AttributeProto::kStringVal) {
                check_schema_version(attribute.string_val(), nodes_);
            }
        }
    }

    void read_node() {
        // Later schemas may add fields, but they write GlobalMetadata.
        if (records_.number() == 1 && has_foreign_fields(records_.record())) {
            records_.fail(
                "is not a node of Chakra's schema 0.0.4; traces of schema 0.0.1 (2023, without "
                "GlobalMetadata) are not supported");
        }
        if (!message_.ParseFromArray(records_.record().data(),
                                     static_cast<int>(records_.record().size()))) {
            records_.fail("is not a Chakra node; a damaged file");
        }
        nodes_.begin();
        TraceNode& node = nodes_.node();
        node.id = message_.id();
        node.name = message_.name();
        node.parents.assign(message_.data_deps().begin(), message_.data_deps().end());
        node.parents.insert(
            node.parents.end(), message_.ctrl_deps().begin(), message_.ctrl_deps().end());
        nodes_.set_type(static_cast<std::uint32_t>(message_.type()));
        for (const AttributeProto& attribute : message_.attr()) {
            const auto known = NodeAssembler::attribute_of(attribute.name());
            if (known != NodeAssembler::AttributeCount) {
                nodes_.set(known, value_of(attribute));
            }
        }
        if (message_.duration_micros() != 0) {
            nodes_.set(NodeAssembler::DurationMicros,
                       AttributeValue::of_unsigned(message_.duration_micros(), "uint64"));
        }
        if (message_.start_time_micros() != 0) {
            nodes_.set(NodeAssembler::StartTimeMicros,
                       AttributeValue::of_unsigned(message_.start_time_micros(), "uint64"));
        }
        if (message_.type() == ChakraProtoMsg::METADATA_NODE) {
            nodes_.set_input_values(message_.inputs().values());
        }
        nodes_.finish();
    }

    ChakraRecords records_;
    NodeAssembler& nodes_;
    ChakraProtoMsg::Node message_;
};

}  // namespace

void check_schema_version(std::string_view version, NodeAssembler& nodes) {
    const std::string& file = nodes.context().file;
    if (version == "0.0.1") {
        throw TraceError(file + ": Chakra's schema 0.0.1 (2023) is not supported; 0.0.4 is");
    }
    if (std::find(kKnownVersions.begin(), kKnownVersions.end(), version) == kKnownVersions.end()) {
        nodes.warnings().add(file + ": schema version '" + printable(version) +
                             "' is unknown; read as 0.0.4");
    }
}

void read_chakra(ByteSource& source, NodeAssembler& nodes) {
    Reader(source, nodes).run();
}

}  // namespace astra
