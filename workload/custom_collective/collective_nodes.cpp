#include "workload/custom_collective/collective_nodes.h"

#include <algorithm>
#include <limits>

#include <chakra.pb.h>
#include <fmt/format.h>

#include "astra/core/error.h"
#include "workload/chakra/chakra_records.h"
#include "workload/graph/messages.h"

namespace astra {

namespace {

using ChakraProtoMsg::AttributeProto;

constexpr std::size_t kMostNodes = std::size_t{1} << 22U;

std::optional<std::int64_t> integer_of(const AttributeProto& attribute) {
    switch (attribute.value_case()) {
        case AttributeProto::kInt32Val:
            return attribute.int32_val();
        case AttributeProto::kInt64Val:
            return attribute.int64_val();
        case AttributeProto::kUint32Val:
            return attribute.uint32_val();
        case AttributeProto::kUint64Val:
            return static_cast<std::int64_t>(std::min<std::uint64_t>(
                attribute.uint64_val(), std::numeric_limits<std::int64_t>::max()));
        case AttributeProto::kSint32Val:
            return attribute.sint32_val();
        case AttributeProto::kSint64Val:
            return attribute.sint64_val();
        case AttributeProto::kBoolVal:
            return attribute.bool_val() ? 1 : 0;
        default:
            return std::nullopt;
    }
}

template <typename List>
Attributes attributes_of(const List& list) {
    Attributes attributes;
    for (const AttributeProto& attribute : list) {
        if (const auto number = integer_of(attribute)) {
            attributes.numbers[attribute.name()] = *number;
        } else if (attribute.value_case() == AttributeProto::kStringVal) {
            attributes.texts[attribute.name()] = attribute.string_val();
        }
    }
    return attributes;
}

void add(const ChakraProtoMsg::Node& node, RawFile& file) {
    RawNode& raw = file.nodes.emplace_back();
    raw.id = node.id();
    raw.name = node.name();
    raw.duration_us = node.duration_micros();
    raw.parents.assign(node.data_deps().begin(), node.data_deps().end());
    raw.parents.insert(raw.parents.end(), node.ctrl_deps().begin(), node.ctrl_deps().end());
    raw.attributes = attributes_of(node.attr());
    switch (node.type()) {
        case ChakraProtoMsg::COMP_NODE:
            raw.type = RawNode::Type::Compute;
            return;
        case ChakraProtoMsg::COMM_SEND_NODE:
            raw.type = RawNode::Type::Send;
            return;
        case ChakraProtoMsg::COMM_RECV_NODE:
            raw.type = RawNode::Type::Receive;
            return;
        default:
            file.fail(raw, "a custom collective has SEND, RECV and COMP nodes only");
    }
}

}  // namespace

std::optional<std::int64_t> Attributes::number(std::string_view name) const {
    const auto found = numbers.find(name);
    return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

std::string Attributes::text(std::string_view name, std::string_view fallback) const {
    const auto found = texts.find(name);
    return found == texts.end() ? std::string(fallback) : found->second;
}

void RawFile::fail(const RawNode& node, const std::string& what) const {
    throw TraceError(
        fmt::format("{}: node {} ({}): {}", file, node.id, printable(node.name), what));
}

std::uint32_t RawFile::small(const RawNode& node, const char* name) const {
    const auto value = node.attributes.number(name);
    if (!value) {
        fail(node, fmt::format("lacks the attribute {}", name));
    }
    if (*value < 0 || *value > kMostNumber) {
        fail(node,
             fmt::format("attribute {} is {}; 0 to {} are possible", name, *value, kMostNumber));
    }
    return static_cast<std::uint32_t>(*value);
}

std::uint32_t RawFile::small_or(const RawNode& node,
                                const char* name,
                                std::uint32_t fallback) const {
    return node.attributes.number(name) ? small(node, name) : fallback;
}

RawFile read_collective_nodes(const std::string& file, std::size_t& total) {
    RawFile result;
    result.file = file;
    ByteSource source(file);
    refuse_other_formats(source, FilePurpose::CustomCollective);
    ChakraRecords records(source);
    ChakraProtoMsg::Node node;
    while (records.next()) {
        const std::string_view bytes = records.record();
        if (records.is_metadata()) {
            ChakraProtoMsg::GlobalMetadata metadata;
            if (!metadata.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
                records.fail("is neither Chakra's GlobalMetadata nor a Node");
            }
            result.metadata = attributes_of(metadata.attr());
            continue;
        }
        if (!node.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
            records.fail("is not a Chakra node; a damaged file");
        }
        if (++total > kMostNodes) {
            records.fail(fmt::format("a collective of more than {} nodes", kMostNodes));
        }
        add(node, result);
    }
    return result;
}

}  // namespace astra
