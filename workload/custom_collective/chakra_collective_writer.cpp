#include <map>
#include <utility>

#include <chakra.pb.h>
#include <fmt/format.h>

#include "workload/chakra/chakra_records.h"
#include "workload/custom_collective/chakra_collective.h"

namespace astra {

namespace {

using ChakraProtoMsg::AttributeProto;

template <typename Message>
AttributeProto& attribute(Message& message, const char* name) {
    AttributeProto& result = *message.add_attr();
    result.set_name(name);
    return result;
}

template <typename Message>
void put(Message& message, const char* name, std::uint32_t value) {
    attribute(message, name).set_int32_val(static_cast<std::int32_t>(value));
}

template <typename Message>
void put(Message& message, const char* name, std::string_view text) {
    attribute(message, name).set_string_val(std::string(text));
}

// The file of one GPU.
class GpuWriter {
  public:
    GpuWriter(const ThreadBlockAlgorithm& algorithm, std::size_t gpu)
        : algorithm_(algorithm), gpu_(algorithm.gpus[gpu]) {}

    std::string text() {
        add_metadata();
        number_nodes();
        for (const ThreadBlock& block : gpu_.blocks) {
            block_ = &block;
            for (std::uint32_t s = 0; s < block.steps.size(); ++s) {
                add_step(s);
            }
        }
        return std::move(bytes_);
    }

  private:
    // A step is a receive, its work, and a send, as far as it has them.
    static std::uint32_t nodes_of(StepType type) {
        const bool message = receives(type) || sends(type);
        return (receives(type) ? 1U : 0U) + (sends(type) ? 1U : 0U) +
               (!message || (receives(type) && reduces(type)) ? 1U : 0U);
    }

    void number_nodes() {
        std::uint64_t next = 0;
        for (const ThreadBlock& block : gpu_.blocks) {
            for (std::uint32_t s = 0; s < block.steps.size(); ++s) {
                next += nodes_of(block.steps[s].type);
                last_node_[{block.id, s}] = next - 1;
            }
        }
    }

    void add_metadata() {
        ChakraProtoMsg::GlobalMetadata metadata;
        put(metadata, "schema", "1.0.2-chakra.0.0.4");
        put(metadata, "collective", collective_name(algorithm_.kind));
        put(metadata, "algorithm", algorithm_.name);
        put(metadata, "proto", algorithm_.protocol);
        put(metadata, "inplace", algorithm_.in_place ? 1U : 0U);
        put(metadata, "root", algorithm_.root);
        put(metadata, "total_chunk_cnt", algorithm_.chunks);
        put(metadata, "i_chunks", gpu_.input_chunks);
        put(metadata, "o_chunks", gpu_.output_chunks);
        put(metadata, "s_chunks", gpu_.scratch_chunks);
        append_chakra_record(metadata.SerializeAsString(), bytes_);
    }

    void add_step(std::uint32_t number) {
        const ThreadBlockStep& step = block_->steps[number];
        const bool receive = receives(step.type);
        const bool send = sends(step.type);
        leading_ = true;
        if (receive) {
            ChakraProtoMsg::Node node =
                begin(ChakraProtoMsg::COMM_RECV_NODE, "COMM_RECV_NODE", number);
            put(node, "comm_src", *block_->receive);
            put(node, "comm_tag", block_->channel);
            if (reduces(step.type)) {
                attribute(node, "is_rrc").set_bool_val(true);
            }
            finish(node, number);
        }
        if ((receive && reduces(step.type)) || (!receive && !send)) {
            ChakraProtoMsg::Node node = begin(ChakraProtoMsg::COMP_NODE, "COMP_NODE", number);
            finish(node, number);
        }
        if (send) {
            ChakraProtoMsg::Node node =
                begin(ChakraProtoMsg::COMM_SEND_NODE, "COMM_SEND_NODE", number);
            put(node, "comm_dst", *block_->send);
            put(node, "comm_tag", block_->channel);
            finish(node, number);
        }
    }

    ChakraProtoMsg::Node begin(ChakraProtoMsg::NodeType type,
                               std::string_view name,
                               std::uint32_t number) {
        ChakraProtoMsg::Node node;
        node.set_id(next_);
        node.set_name(fmt::format("{}_tb{}_step{}", name, block_->id, number));
        node.set_type(type);
        const ThreadBlockStep& step = block_->steps[number];
        if (!leading_ || number > 0) {
            node.add_data_deps(next_ - 1);
        }
        if (leading_ && step.wait) {
            const auto other = last_node_.find({step.wait->thread_block, step.wait->step});
            if (other != last_node_.end() && (number == 0 || other->second != next_ - 1)) {
                node.add_data_deps(other->second);
            }
        }
        return node;
    }

    void finish(ChakraProtoMsg::Node& node, std::uint32_t number) {
        const ThreadBlockStep& step = block_->steps[number];
        const bool writes = node.type() == ChakraProtoMsg::COMM_RECV_NODE;
        const std::uint32_t offset =
            writes && writes_destination(step.type) ? step.destination_offset : step.source_offset;
        put(node, "msg_chunk_cnt", step.count);
        put(node, "msg_chunk_idx", offset);
        put(node, "total_chunk_cnt", algorithm_.chunks);
        put(node, "chunk_offset", offset);
        put(node, "local_time_step", number);
        put(node, "tb_id", block_->id);
        attribute(node, "hasdep").set_int32_val(0);
        attribute(node, "depid")
            .set_int32_val(step.wait ? static_cast<std::int32_t>(step.wait->thread_block) : -1);
        attribute(node, "deps")
            .set_int32_val(step.wait ? static_cast<std::int32_t>(step.wait->step) : -1);
        if (leading_) {
            put(node, "step_type", spelling_of(step.type));
            put(node, "src_buf", std::string(1, step.source));
            put(node, "src_off", step.source_offset);
            put(node, "dst_buf", std::string(1, step.destination));
            put(node, "dst_off", step.destination_offset);
        }
        leading_ = false;
        ++next_;
        append_chakra_record(node.SerializeAsString(), bytes_);
    }

    const ThreadBlockAlgorithm& algorithm_;
    const ThreadBlockGpu& gpu_;
    const ThreadBlock* block_ = nullptr;
    bool leading_ = true;  // the first node of a step
    std::uint64_t next_ = 0;
    // The last node that was written, by thread block and step.
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> last_node_;
    std::string bytes_;
};

}  // namespace

std::uint32_t write_chakra_collective(const ThreadBlockAlgorithm& algorithm,
                                      const std::string& prefix) {
    for (std::size_t gpu = 0; gpu < algorithm.gpus.size(); ++gpu) {
        write_chakra_file(fmt::format("{}.{}.et", prefix, gpu), GpuWriter(algorithm, gpu).text());
    }
    return static_cast<std::uint32_t>(algorithm.gpus.size());
}

}  // namespace astra
