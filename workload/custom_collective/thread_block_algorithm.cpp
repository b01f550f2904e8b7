#include "workload/custom_collective/thread_block_algorithm.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "system/program/thread_block_builder.h"

namespace astra {

namespace {

constexpr std::array<std::string_view, kStepTypes> kSpellings = {
    "nop", "s", "r", "cpy", "re", "rrc", "rcs", "rrs", "rrcs"};

constexpr std::uint64_t kMostPositions = std::uint64_t{1} << 24U;

struct NamedKind {
    std::string_view name;
    std::optional<CollectiveKind> kind;
};

constexpr std::array<NamedKind, 9> kKinds = {{{"allreduce", CollectiveKind::AllReduce},
                                              {"allgather", CollectiveKind::AllGather},
                                              {"reduce_scatter", CollectiveKind::ReduceScatter},
                                              {"alltoall", CollectiveKind::AllToAll},
                                              {"broadcast", CollectiveKind::Broadcast},
                                              {"reduce", CollectiveKind::Reduce},
                                              {"gather", CollectiveKind::Gather},
                                              {"scatter", CollectiveKind::Scatter},
                                              {"custom", std::nullopt}}};

// Where buffers lie in a member's memory.
class Buffers {
  public:
    explicit Buffers(const ThreadBlockAlgorithm& algorithm)
        : members_(static_cast<std::uint32_t>(algorithm.gpus.size())) {
        const auto kind = algorithm.kind;
        part_ = algorithm.chunks / std::max(members_, 1U);
        shift_input_ = algorithm.in_place && kind == CollectiveKind::AllGather;
        shift_output_ = algorithm.in_place && kind == CollectiveKind::ReduceScatter;
        input_ = kind == CollectiveKind::AllGather || kind == CollectiveKind::Gather
                     ? part_
                     : algorithm.chunks;
        output_ = kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::Scatter
                      ? part_
                      : algorithm.chunks;
        std::uint32_t scratch = 0;
        std::uint32_t most = 0;
        for (const ThreadBlockGpu& gpu : algorithm.gpus) {
            if (!kind) {
                input_ = std::max(input_, gpu.input_chunks);
                output_ = std::max(output_, gpu.output_chunks);
            }
            scratch = std::max(scratch, gpu.scratch_chunks);
            for (const ThreadBlock& block : gpu.blocks) {
                std::uint32_t width = 0;
                for (const ThreadBlockStep& step : block.steps) {
                    width =
                        std::max(width, step.type == StepType::ReceiveReduceSend ? step.count : 0U);
                }
                most = std::max(most, width);
            }
        }
        layout_.in_place = algorithm.in_place;
        const bool output_first = output_ > input_;
        const std::uint32_t both = input_ + output_;
        scratch_at_ = algorithm.in_place ? std::max(input_, output_) : both;
        layout_.input = algorithm.in_place || !output_first ? 0 : output_;
        layout_.output = algorithm.in_place || output_first ? 0 : input_;
        registers_at_ = scratch_at_ + scratch;
        registers_ = most;
        std::uint32_t blocks = 0;
        for (const ThreadBlockGpu& gpu : algorithm.gpus) {
            blocks = std::max(blocks, static_cast<std::uint32_t>(gpu.blocks.size()));
        }
        const std::uint64_t positions = registers_at_ + std::uint64_t{registers_} * blocks;
        if (positions > kMostPositions) {
            throw TraceError(fmt::format("{}: needs {} chunks of memory a gpu; at most {} can be",
                                         algorithm.file,
                                         positions,
                                         kMostPositions));
        }
        layout_.positions = static_cast<std::uint32_t>(positions);
    }

    const BufferLayout& layout() const { return layout_; }
    std::uint32_t input_chunks() const { return input_; }
    std::uint32_t output_chunks() const { return output_; }
    std::uint32_t at(std::uint32_t member, char buffer, std::uint32_t offset) const {
        if (buffer == 's') {
            return scratch_at_ + offset;
        }
        const bool shifted = buffer == 'i' ? shift_input_ : shift_output_;
        return (buffer == 'i' ? layout_.input : layout_.output) + (shifted ? member * part_ : 0) +
               offset;
    }
    // Where a thread block keeps what it sends on without storing it.
    std::uint32_t registers_of(std::uint32_t thread_block) const {
        return registers_at_ + registers_ * thread_block;
    }

  private:
    std::uint32_t members_;
    std::uint32_t part_ = 0;
    bool shift_input_ = false;
    bool shift_output_ = false;
    std::uint32_t input_ = 0;
    std::uint32_t output_ = 0;
    std::uint32_t scratch_at_ = 0;
    std::uint32_t registers_at_ = 0;
    std::uint32_t registers_ = 0;
    BufferLayout layout_;
};

class ProgramMaker {
  public:
    explicit ProgramMaker(const ThreadBlockAlgorithm& algorithm)
        : algorithm_(algorithm),
          buffers_(algorithm),
          builder_(static_cast<std::uint32_t>(algorithm.gpus.size()),
                   algorithm.chunks,
                   buffers_.layout()) {}

    Program make() {
        for (member_ = 0; member_ < algorithm_.gpus.size(); ++member_) {
            add_member(algorithm_.gpus[member_]);
        }
        return builder_.finish();
    }

  private:
    [[noreturn]] void fail(const ThreadBlockStep& step,
                           std::size_t number,
                           const std::string& what) {
        throw TraceError(fmt::format("{}{}: gpu {}, thread block {}, step {} ({}): {}",
                                     algorithm_.file,
                                     step.line == 0 ? "" : fmt::format(":{}", step.line),
                                     member_,
                                     block_->id,
                                     number,
                                     spelling_of(step.type),
                                     what));
    }

    void add_member(const ThreadBlockGpu& gpu) {
        builder_.begin_member();
        numbers_.clear();
        for (const ThreadBlock& block : gpu.blocks) {
            const auto number = static_cast<std::uint32_t>(numbers_.size());
            if (!numbers_.emplace(block.id, number).second) {
                throw TraceError(fmt::format("{}: gpu {}: two thread blocks have the id {}",
                                             algorithm_.file,
                                             member_,
                                             block.id));
            }
        }
        for (std::uint32_t number = 0; number < gpu.blocks.size(); ++number) {
            block_ = &gpu.blocks[number];
            builder_.begin_thread_block(block_->id);
            for (std::size_t s = 0; s < block_->steps.size(); ++s) {
                builder_.begin_step();
                check(gpu, block_->steps[s], s);
                add(number, block_->steps[s]);
            }
        }
    }

    void check(const ThreadBlockGpu& gpu, const ThreadBlockStep& step, std::size_t number) {
        if (step.type != StepType::Nop && step.count == 0) {
            fail(step, number, "moves no chunk; cnt is at least 1");
        }
        if (reads_source(step.type)) {
            check_range(gpu, step, number, step.source, step.source_offset);
        }
        if (writes_destination(step.type)) {
            check_range(gpu, step, number, step.destination, step.destination_offset);
        }
        const auto check_peer = [&](bool needed, std::optional<std::uint32_t> peer, auto what) {
            if (!needed) {
                return;
            }
            if (!peer) {
                fail(step, number, fmt::format("needs a peer, but its thread block {} none", what));
            }
            if (*peer >= algorithm_.gpus.size() || *peer == member_) {
                fail(step,
                     number,
                     fmt::format("its thread block {} gpu {}; the others are 0 to {} without {}",
                                 what,
                                 *peer,
                                 algorithm_.gpus.size() - 1,
                                 member_));
            }
        };
        check_peer(sends(step.type), block_->send, "sends to");
        check_peer(receives(step.type), block_->receive, "receives from");
        if (step.wait) {
            check_wait(gpu, step, number);
        }
    }

    void check_wait(const ThreadBlockGpu& gpu, const ThreadBlockStep& step, std::size_t number) {
        const auto block = numbers_.find(step.wait->thread_block);
        if (block == numbers_.end()) {
            fail(step,
                 number,
                 fmt::format("depends on thread block {}, which is not there",
                             step.wait->thread_block));
        }
        const std::size_t steps = gpu.blocks[block->second].steps.size();
        if (step.wait->step >= steps) {
            fail(step,
                 number,
                 fmt::format("depends on step {} of thread block {}, which has the steps 0 to {}",
                             step.wait->step,
                             step.wait->thread_block,
                             steps - 1));
        }
    }

    void check_range(const ThreadBlockGpu& gpu,
                     const ThreadBlockStep& step,
                     std::size_t number,
                     char buffer,
                     std::uint32_t offset) {
        const std::uint32_t size = buffer == 's'   ? gpu.scratch_chunks
                                   : buffer == 'i' ? buffers_.input_chunks()
                                                   : buffers_.output_chunks();
        // In place a buffer that is part of the other may be reached into from its start only.
        if (std::uint64_t{offset} + step.count > size) {
            fail(step,
                 number,
                 fmt::format("uses chunks {} to {} of buffer {}, which has {}",
                             offset,
                             std::uint64_t{offset} + step.count - 1,
                             buffer,
                             size));
        }
    }

    void add(std::uint32_t thread_block, const ThreadBlockStep& step) {
        if (step.wait) {
            builder_.wait({numbers_.at(step.wait->thread_block), step.wait->step});
        }
        const std::uint32_t source = buffers_.at(member_, step.source, step.source_offset);
        const std::uint32_t target =
            step.type == StepType::ReceiveReduceSend
                ? buffers_.registers_of(thread_block)
                : buffers_.at(member_, step.destination, step.destination_offset);
        if (receives(step.type)) {
            builder_.receive(*block_->receive,
                             block_->channel,
                             {target, 1, step.count},
                             reduces(step.type) ? std::optional(source) : std::nullopt);
        }
        // In place, a copy may be one of a part to itself.
        const bool copies = step.type == StepType::Copy && source != target;
        if (copies || step.type == StepType::Reduce) {
            builder_.local({source, target, step.count, step.type == StepType::Reduce, 0});
        }
        if (sends(step.type)) {
            const std::uint32_t from = step.type == StepType::Send ? source : target;
            builder_.send(*block_->send, block_->channel, {from, 1, step.count});
        }
    }

    const ThreadBlockAlgorithm& algorithm_;
    Buffers buffers_;
    ThreadBlockBuilder builder_;
    std::uint32_t member_ = 0;
    const ThreadBlock* block_ = nullptr;
    std::map<std::uint32_t, std::uint32_t> numbers_;  // by the id of a thread block of the GPU
};

}  // namespace

bool ThreadBlockStep::operator==(const ThreadBlockStep& other) const {
    return type == other.type && source == other.source && destination == other.destination &&
           source_offset == other.source_offset && destination_offset == other.destination_offset &&
           count == other.count && wait == other.wait;
}

bool ThreadBlockAlgorithm::operator==(const ThreadBlockAlgorithm& other) const {
    return name == other.name && protocol == other.protocol && kind == other.kind &&
           chunks == other.chunks && in_place == other.in_place && root == other.root &&
           gpus == other.gpus;
}

std::string_view spelling_of(StepType type) {
    return kSpellings[static_cast<std::size_t>(type)];
}

std::optional<StepType> step_type_of(std::string_view spelling) {
    const auto found = std::find(kSpellings.begin(), kSpellings.end(), spelling);
    return found == kSpellings.end()
               ? std::nullopt
               : std::optional(static_cast<StepType>(found - kSpellings.begin()));
}

bool sends(StepType type) {
    return type == StepType::Send || type == StepType::ReceiveCopySend ||
           type == StepType::ReceiveReduceSend || type == StepType::ReceiveReduceCopySend;
}

bool receives(StepType type) {
    return type != StepType::Nop && type != StepType::Send && type != StepType::Copy &&
           type != StepType::Reduce;
}

bool reduces(StepType type) {
    return type == StepType::Reduce || type == StepType::ReceiveReduceCopy ||
           type == StepType::ReceiveReduceSend || type == StepType::ReceiveReduceCopySend;
}

bool reads_source(StepType type) {
    return type == StepType::Send || type == StepType::Copy || reduces(type);
}

bool writes_destination(StepType type) {
    return type != StepType::Nop && type != StepType::Send && type != StepType::ReceiveReduceSend;
}

std::string_view collective_name(std::optional<CollectiveKind> kind) {
    const auto found =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) { return k.kind == kind; });
    return found == kKinds.end() ? "custom" : found->name;
}

bool parse_collective_name(std::string_view name, std::optional<CollectiveKind>& kind) {
    const auto plain = [](std::string_view text) {
        std::string result(text);
        std::erase(result, '_');
        return result;
    };
    const auto found = std::find_if(
        kKinds.begin(), kKinds.end(), [&](const auto& k) { return plain(k.name) == plain(name); });
    if (found == kKinds.end()) {
        return false;
    }
    kind = found->kind;
    return true;
}

std::vector<std::string> collective_file_names() {
    std::vector<std::string> names;
    names.reserve(kKinds.size());
    for (const NamedKind& kind : kKinds) {
        names.emplace_back(kind.name);
    }
    return names;
}

Program program_of(const ThreadBlockAlgorithm& algorithm) {
    return ProgramMaker(algorithm).make();
}

}  // namespace astra
