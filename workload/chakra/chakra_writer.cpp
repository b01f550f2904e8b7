#include "workload/chakra/chakra_writer.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <chakra.pb.h>

#include "astra/core/error.h"
#include "workload/chakra/chakra_records.h"

namespace astra {
namespace {

using ChakraProtoMsg::AttributeProto;

constexpr std::uint64_t kPsPerMicro = 1'000'000;
constexpr std::uint64_t kMostInt32 = 0x7fffffffU;
constexpr std::uint64_t kMostInt64 = 0x7fffffffffffffffU;

ChakraProtoMsg::NodeType type_of(OpKind kind) {
    switch (kind) {
        case OpKind::Compute:
            return ChakraProtoMsg::COMP_NODE;
        case OpKind::MemoryLoad:
            return ChakraProtoMsg::MEM_LOAD_NODE;
        case OpKind::MemoryStore:
            return ChakraProtoMsg::MEM_STORE_NODE;
        case OpKind::Send:
            return ChakraProtoMsg::COMM_SEND_NODE;
        case OpKind::Recv:
            return ChakraProtoMsg::COMM_RECV_NODE;
        case OpKind::Collective:
            return ChakraProtoMsg::COMM_COLL_NODE;
        case OpKind::Metadata:
            return ChakraProtoMsg::METADATA_NODE;
        case OpKind::Invalid:
            break;
    }
    return ChakraProtoMsg::INVALID_NODE;
}

AttributeProto& attribute(ChakraProtoMsg::Node& message, const char* name) {
    AttributeProto& result = *message.add_attr();
    result.set_name(name);
    return result;
}

// int64 as other producers do, uint64 for what that cannot hold.
void set_count(AttributeProto& target, std::uint64_t value) {
    if (value <= kMostInt64) {
        target.set_int64_val(static_cast<std::int64_t>(value));
    } else {
        target.set_uint64_val(value);
    }
}

void set_small(AttributeProto& target, std::uint32_t value) {
    if (value <= kMostInt32) {
        target.set_int32_val(static_cast<std::int32_t>(value));
    } else {
        target.set_uint32_val(value);
    }
}

void add_communication(ChakraProtoMsg::Node& message, const TraceNode& node) {
    if (node.collective) {
        attribute(message, "comm_type").set_int64_val(static_cast<std::int64_t>(*node.collective));
    }
    if (node.comm_bytes) {
        set_count(attribute(message, "comm_size"), *node.comm_bytes);
    }
    if (node.source) {
        set_small(attribute(message, "comm_src"), *node.source);
    }
    if (node.destination) {
        set_small(attribute(message, "comm_dst"), *node.destination);
    }
    if (node.tag) {
        set_small(attribute(message, "comm_tag"), *node.tag);
    }
    if (node.priority != 0) {
        set_count(attribute(message, "comm_priority"), node.priority);
    }
    if (!node.group.empty()) {
        attribute(message, "pg_name").set_string_val(node.group);
    }
    const std::pair<const char*, const std::vector<std::uint64_t>&> lists[] = {
        {"in_split_size", node.pair_sends}, {"out_split_size", node.pair_receives}};
    for (const auto& [name, sizes] : lists) {
        if (!sizes.empty()) {
            auto& list = *attribute(message, name).mutable_uint64_list()->mutable_values();
            list.Add(sizes.begin(), sizes.end());
        }
    }
    if (node.involved_dimensions) {
        auto& list = *attribute(message, "involved_dim").mutable_bool_list();
        for (const bool involved : *node.involved_dimensions) {
            list.add_values(involved);
        }
    }
}

}  // namespace

struct ChakraWriter::Parts {
    std::string file;
    std::string temporary;
    std::ofstream out;
    ChakraProtoMsg::Node message;
    std::string bytes;

    [[noreturn]] void fail() const {
        throw TraceError(file + ": cannot be written: " + std::strerror(errno));
    }
    void write(const google::protobuf::MessageLite& record) {
        bytes.clear();
        append_chakra_record(record.SerializeAsString(), bytes);
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        if (!out) {
            fail();
        }
    }
};

ChakraWriter::ChakraWriter(const std::string& file, const std::string& version)
    : parts_(std::make_unique<Parts>()) {
    parts_->file = file;
    parts_->temporary = file + ".part";
    parts_->out.open(parts_->temporary, std::ios::binary | std::ios::trunc);
    if (!parts_->out) {
        parts_->fail();
    }
    ChakraProtoMsg::GlobalMetadata metadata;
    metadata.set_version(version);
    parts_->write(metadata);
}

ChakraWriter::~ChakraWriter() {
    if (parts_->out.is_open()) {
        parts_->out.close();
        std::remove(parts_->temporary.c_str());
    }
}

void ChakraWriter::add(const TraceNode& node) {
    ChakraProtoMsg::Node& message = parts_->message;
    message.Clear();
    message.set_id(node.id);
    message.set_name(node.name);
    message.set_type(type_of(node.kind));
    message.set_duration_micros(node.duration_ps / kPsPerMicro +
                                (node.duration_ps % kPsPerMicro >= kPsPerMicro / 2 ? 1 : 0));
    if (node.duration_ps % kPsPerMicro != 0) {
        set_count(attribute(message, "duration_ps"), node.duration_ps);
    }
    for (const std::uint64_t parent : node.parents) {
        message.add_data_deps(parent);
    }
    for (const std::uint64_t parent : node.control_parents) {
        message.add_ctrl_deps(parent);
    }
    if (node.kind != OpKind::Metadata && node.kind != OpKind::Invalid) {
        attribute(message, "is_cpu_op").set_bool_val(node.on_cpu);
    }
    if (node.operations) {
        set_count(attribute(message, "num_ops"), *node.operations);
    }
    if (node.tensor_bytes) {
        attribute(message, "tensor_size").set_uint64_val(*node.tensor_bytes);
    }
    add_communication(message, node);
    if (node.stream_note.stream != StreamNote::kNone) {
        set_count(attribute(message, "stream"), node.stream_note.stream);
    }
    if (node.stream_note.thread != StreamNote::kNone) {
        set_count(attribute(message, "tid"), node.stream_note.thread);
    }
    parts_->write(message);
}

void ChakraWriter::close() {
    parts_->out.flush();
    if (!parts_->out) {
        parts_->fail();
    }
    parts_->out.close();
    if (std::rename(parts_->temporary.c_str(), parts_->file.c_str()) != 0) {
        const int reason = errno;
        std::remove(parts_->temporary.c_str());
        errno = reason;
        parts_->fail();
    }
}

}  // namespace astra
