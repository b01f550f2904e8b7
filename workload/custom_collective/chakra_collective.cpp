#include "workload/custom_collective/chakra_collective.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "astra/core/text/nearest.h"
#include "workload/custom_collective/collective_nodes.h"
#include "workload/graph/messages.h"

namespace astra {

namespace {

constexpr std::size_t kMostMembers = std::size_t{1} << 16U;
constexpr std::uint64_t kPsPerMicro = 1'000'000;
constexpr std::int64_t kMostNumber = RawFile::kMostNumber;
constexpr std::uint32_t kMostGap = 1024;  // steps left out in a row

const char* peer_name(const RawNode& node) {
    return node.type == RawNode::Type::Send ? "comm_dst" : "comm_src";
}

bool has_chunks(const RawNode& node) {
    // Converters write -1 for what they do not know.
    return node.attributes.number("msg_chunk_cnt").value_or(-1) >= 0 &&
           node.attributes.number("total_chunk_cnt").value_or(-1) > 0;
}

// Puts the steps of the thread blocks of one position together.
class BlockReader {
  public:
    // `whole`: the buffer that holds the whole of the collective, which offsets mean where nodes
    // name no buffer.
    BlockReader(const RawFile& file, char whole, std::uint32_t& chunks)
        : file_(file), whole_(whole), chunks_(chunks) {}

    // False if a node does not say what it moves.
    bool read(ThreadBlockGpu& gpu) {
        find_steps();
        for (const RawNode& node : file_.nodes) {
            const bool part = !node.attributes.number("tb_id");
            if (part && node.is_message()) {
                return false;
            }
            if (part) {
                // The reduction that a converter writes behind a receive of the kind rrc.
                const bool reduction = std::any_of(
                    node.parents.begin(), node.parents.end(), [&](std::uint64_t parent) {
                        return std::find(reducing_.begin(), reducing_.end(), parent) !=
                               reducing_.end();
                    });
                if (!reduction) {
                    return false;
                }
                continue;
            }
            add(gpu, node);
        }
        return true;
    }

  private:
    void add(ThreadBlockGpu& gpu, const RawNode& node) {
        const std::uint32_t id = file_.small(node, "tb_id");
        const std::uint32_t step = file_.small(node, "local_time_step");
        const auto found = block_of_id_.emplace(id, gpu.blocks.size());
        if (found.second) {
            gpu.blocks.emplace_back().id = id;
        }
        ThreadBlock& block = gpu.blocks[found.first->second];
        if (node.is_message()) {
            set_peer(block, node);
        }
        if (step + 1 == block.steps.size()) {
            // A further part of the step: its reduction, or what it sends on.
            return;
        }
        if (step > block.steps.size()) {
            fill_gap(block, node, step);
        }
        if (step != block.steps.size()) {
            file_.fail(node,
                       fmt::format("step {} of thread block {} where step {} is expected",
                                   step,
                                   id,
                                   block.steps.size()));
        }
        block.steps.push_back(step_of(node));
    }

    // Which step of which thread block each node is; a reduction without, that of its receive.
    void find_steps() {
        for (const RawNode& node : file_.nodes) {
            const auto block = node.attributes.number("tb_id");
            const auto step = node.attributes.number("local_time_step");
            if (block && step && std::min(*block, *step) >= 0 &&
                std::max(*block, *step) <= kMostNumber) {
                step_of_id_[node.id] = {static_cast<std::uint32_t>(*block),
                                        static_cast<std::uint32_t>(*step)};
                continue;
            }
            for (const std::uint64_t parent : node.parents) {
                if (const auto found = step_of_id_.find(parent); found != step_of_id_.end()) {
                    step_of_id_[node.id] = found->second;
                }
            }
        }
    }

    // Collectiveapi's converter leaves out the steps `nop`, but numbers them: what they wait for
    // are dependencies of the node behind them.
    void fill_gap(ThreadBlock& block, const RawNode& node, std::uint32_t number) {
        if (number - block.steps.size() > kMostGap) {
            file_.fail(node,
                       fmt::format("step {} of thread block {} where step {} is expected",
                                   number,
                                   block.id,
                                   block.steps.size()));
        }
        const auto its_own = wait_of(node);
        std::vector<ThreadBlocks::Wait> waits;
        for (const std::uint64_t parent : node.parents) {
            const auto found = step_of_id_.find(parent);
            if (found != step_of_id_.end() && found->second.thread_block != block.id &&
                its_own != found->second) {
                waits.push_back(found->second);
            }
        }
        while (block.steps.size() < number) {
            ThreadBlockStep& step = block.steps.emplace_back();
            step.line = node.id;
            if (!waits.empty()) {
                step.wait = waits.back();
                waits.pop_back();
            }
        }
    }

    void set_peer(ThreadBlock& block, const RawNode& node) {
        const bool send = node.type == RawNode::Type::Send;
        std::optional<std::uint32_t>& peer = send ? block.send : block.receive;
        const std::uint32_t named = file_.small(node, peer_name(node));
        const std::uint32_t channel = file_.small_or(node, "comm_tag", 0);
        const bool first = !block.send && !block.receive;
        if ((peer && *peer != named) || (!first && block.channel != channel)) {
            file_.fail(
                node, fmt::format("thread block {} has another peer or comm_tag before", block.id));
        }
        peer = named;
        block.channel = channel;
        const std::uint32_t total = file_.small(node, "total_chunk_cnt");
        if (chunks_ != 0 && chunks_ != total) {
            file_.fail(node,
                       fmt::format("total_chunk_cnt is {}, but {} elsewhere", total, chunks_));
        }
        chunks_ = total;
    }

    ThreadBlockStep step_of(const RawNode& node) {
        ThreadBlockStep step;
        step.line = node.id;
        const bool send = node.type == RawNode::Type::Send;
        const bool reducing = node.attributes.number("is_rrc").value_or(0) != 0;
        const std::string type = node.attributes.text("step_type",
                                                      send                ? "s"
                                                      : reducing          ? "rrc"
                                                      : node.is_message() ? "r"
                                                                          : "");
        const auto known = step_type_of(type);
        if (!known) {
            file_.fail(node, fmt::format("step_type '{}' is no step", printable(type)));
        }
        step.type = *known;
        if (reducing) {
            reducing_.push_back(node.id);
        }
        if (step.type == StepType::Nop) {
            step.wait = wait_of(node);
            return step;
        }
        step.count = file_.small(node, "msg_chunk_cnt");
        const std::uint32_t offset = file_.small_or(node, "chunk_offset", 0);
        if (reads_source(step.type)) {
            step.source = buffer(node, "src_buf");
            step.source_offset = file_.small_or(node, "src_off", offset);
        }
        if (writes_destination(step.type)) {
            step.destination = buffer(node, "dst_buf");
            step.destination_offset = file_.small_or(node, "dst_off", offset);
        }
        step.wait = wait_of(node);
        return step;
    }

    std::optional<ThreadBlocks::Wait> wait_of(const RawNode& node) const {
        if (node.attributes.number("depid").value_or(-1) < 0) {
            return std::nullopt;
        }
        return ThreadBlocks::Wait{file_.small(node, "depid"), file_.small(node, "deps")};
    }

    char buffer(const RawNode& node, const char* name) const {
        const std::string text = node.attributes.text(name, std::string_view(&whole_, 1));
        if (text != "i" && text != "o" && text != "s") {
            file_.fail(node, fmt::format("{} '{}' is no buffer", name, printable(text)));
        }
        return text.front();
    }

    const RawFile& file_;
    char whole_;
    std::uint32_t& chunks_;
    std::map<std::uint64_t, ThreadBlocks::Wait> step_of_id_;
    std::map<std::uint32_t, std::size_t> block_of_id_;
    std::vector<std::uint64_t> reducing_;  // ids
};

std::optional<ThreadBlockAlgorithm> blocks_of(const std::string& prefix,
                                              const std::vector<RawFile>& files) {
    ThreadBlockAlgorithm algorithm;
    algorithm.file = prefix;
    algorithm.gpus.resize(files.size());
    const Attributes& metadata = files[0].metadata;
    const std::string collective = metadata.text("collective", "custom");
    if (!parse_collective_name(collective, algorithm.kind)) {
        throw TraceError(fmt::format("{}: collective '{}' is not known{}",
                                     files[0].file,
                                     printable(collective),
                                     suggestion(collective, collective_file_names())));
    }
    algorithm.name = metadata.text("algorithm", "");
    algorithm.protocol = metadata.text("proto", "Simple");
    algorithm.in_place = metadata.number("inplace").value_or(1) != 0;
    algorithm.root = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(metadata.number("root").value_or(0), 0, kMostNumber));
    std::uint32_t chunks = 0;
    // In place the parts of members lie in the whole; the other buffer is one of them.
    const bool gathers =
        algorithm.kind == CollectiveKind::AllGather || algorithm.kind == CollectiveKind::Gather;
    const char whole = algorithm.in_place && gathers ? 'o' : 'i';
    for (std::size_t m = 0; m < files.size(); ++m) {
        if (!BlockReader(files[m], whole, chunks).read(algorithm.gpus[m])) {
            return std::nullopt;
        }
        const auto size = [&](const char* name, std::uint32_t fallback) {
            const auto value = files[m].metadata.number(name);
            return value && *value >= 0 && *value <= (std::int64_t{1} << 20)
                       ? static_cast<std::uint32_t>(*value)
                       : fallback;
        };
        algorithm.gpus[m].input_chunks = size("i_chunks", chunks);
        algorithm.gpus[m].output_chunks = size("o_chunks", chunks);
        algorithm.gpus[m].scratch_chunks = size("s_chunks", 0);
    }
    algorithm.chunks = std::max(chunks, 1U);
    return algorithm;
}

RecordedTraffic traffic_of(const std::string& prefix,
                           const std::vector<RawFile>& files,
                           bool in_chunks) {
    RecordedTraffic traffic;
    traffic.file = prefix;
    for (const RawFile& file : files) {
        std::vector<RecordedNode>& nodes = traffic.members.emplace_back();
        for (const RawNode& raw : file.nodes) {
            RecordedNode& node = nodes.emplace_back();
            node.id = raw.id;
            node.parents = raw.parents;
            if (!raw.is_message()) {
                if (raw.duration_us > (std::uint64_t{1} << 40U)) {
                    file.fail(raw, "a computation of more than 2^40 us");
                }
                node.duration_ps = raw.duration_us * kPsPerMicro;
                continue;
            }
            node.type = raw.type == RawNode::Type::Send ? RecordedNode::Type::Send
                                                        : RecordedNode::Type::Receive;
            node.peer = file.small(raw, peer_name(raw));
            node.tag = file.small_or(raw, "comm_tag", 0);
            if (in_chunks) {
                node.size = file.small(raw, "msg_chunk_cnt");
                traffic.chunks = file.small(raw, "total_chunk_cnt");
                continue;
            }
            const auto bytes = raw.attributes.number("comm_size");
            if (!bytes || *bytes < 0) {
                file.fail(raw, "lacks comm_size, and msg_chunk_cnt with total_chunk_cnt as well");
            }
            node.size = static_cast<std::uint64_t>(*bytes);
        }
    }
    return traffic;
}

}  // namespace

ChakraCollective read_chakra_collective(const std::string& prefix) {
    std::vector<RawFile> files;
    std::size_t total = 0;
    while (std::filesystem::exists(fmt::format("{}.{}.et", prefix, files.size()))) {
        if (files.size() >= kMostMembers) {
            throw TraceError(fmt::format("{}: more than {} files", prefix, kMostMembers));
        }
        files.push_back(
            read_collective_nodes(fmt::format("{}.{}.et", prefix, files.size()), total));
    }
    if (files.empty()) {
        throw TraceError(
            fmt::format("{}: there is neither such a file nor {}.0.et", prefix, prefix));
    }
    bool in_chunks = true;
    for (const RawFile& file : files) {
        for (const RawNode& node : file.nodes) {
            in_chunks = in_chunks && (!node.is_message() || has_chunks(node));
        }
    }
    ChakraCollective result;
    if (in_chunks) {
        result.blocks = blocks_of(prefix, files);
    }
    if (!result.blocks) {
        result.traffic = traffic_of(prefix, files, in_chunks);
    }
    return result;
}

}  // namespace astra
