#include "workload/custom_collective/program_blocks.h"

#include <map>
#include <optional>
#include <utility>

namespace astra {

namespace {

class MemberBlocks {
  public:
    // `buffer`: the one of whose chunks blocks are numbers.
    MemberBlocks(const Program& program, std::uint32_t member, char buffer)
        : program_(program), member_(member), buffer_(buffer) {}

    std::vector<ThreadBlock> make() {
        for (const Program::Step& step : program_.steps(member_)) {
            for (std::uint32_t i = 0; i < step.receives; ++i) {
                const Program::Receive& op = program_.receive(step.first_receive + i);
                add(op.reduce ? StepType::ReceiveReduceCopy : StepType::Receive,
                    program_.peer_of(member_, op.peer),
                    op.payload);
            }
            for (std::uint32_t i = 0; i < step.sends; ++i) {
                const Program::Send& op = program_.send(step.first_send + i);
                add(StepType::Send, program_.peer_of(member_, op.peer), op.payload);
            }
        }
        return std::move(blocks_);
    }

  private:
    // A step for each run of blocks that follow one another; the same runs at both ends.
    void add(StepType type, std::uint32_t peer, const Payload& payload) {
        const std::uint32_t count = program_.elements(payload);
        for (std::uint32_t i = 0; i < count;) {
            const std::uint32_t first = program_.block_of(member_, payload, i);
            std::uint32_t run = 1;
            while (i + run < count && program_.block_of(member_, payload, i + run) == first + run) {
                ++run;
            }
            add_step(type, peer, first, run);
            i += run;
        }
    }

    void add_step(StepType type, std::uint32_t peer, std::uint32_t chunk, std::uint32_t count) {
        const bool out = type == StepType::Send;
        const auto [known, fresh] =
            numbers_.emplace(std::pair(peer, out), static_cast<std::uint32_t>(blocks_.size()));
        if (fresh) {
            ThreadBlock& block = blocks_.emplace_back();
            block.id = known->second;
            (out ? block.send : block.receive) = peer;
        }
        ThreadBlockStep step;
        step.type = type;
        step.count = count;
        if (reads_source(type)) {
            step.source = buffer_;
            step.source_offset = chunk;
        }
        if (writes_destination(type)) {
            step.destination = buffer_;
            step.destination_offset = chunk;
        }
        if (last_ && last_->thread_block != known->second) {
            step.wait = last_;
        }
        std::vector<ThreadBlockStep>& steps = blocks_[known->second].steps;
        last_ = ThreadBlocks::Wait{known->second, static_cast<std::uint32_t>(steps.size())};
        steps.push_back(step);
    }

    const Program& program_;
    std::uint32_t member_;
    char buffer_;
    std::vector<ThreadBlock> blocks_;
    std::map<std::pair<std::uint32_t, bool>, std::uint32_t> numbers_;  // peer, whether it sends
    std::optional<ThreadBlocks::Wait> last_;
};

}  // namespace

std::string thread_blocks_refusal(const Program& program, CollectiveKind kind) {
    if (kind == CollectiveKind::AllToAll || kind == CollectiveKind::Barrier) {
        return std::string("the blocks of an algorithm for ") + name_of(kind) +
               " have no place in a buffer";
    }
    return program.thread_blocks() != nullptr
               ? "it is made of thread blocks already: astra convert copies it"
               : "";
}

ThreadBlockAlgorithm thread_block_algorithm_of(const Program& program,
                                               CollectiveKind kind,
                                               std::uint32_t root,
                                               const std::string& name) {
    ThreadBlockAlgorithm algorithm;
    algorithm.name = name;
    algorithm.protocol = "Simple";
    algorithm.kind =
        kind == CollectiveKind::ReduceScatterBlock ? CollectiveKind::ReduceScatter : kind;
    algorithm.chunks = program.blocks();
    algorithm.root = root;
    const std::uint32_t part = program.blocks() / program.members();
    const bool gathers = kind == CollectiveKind::AllGather || kind == CollectiveKind::Gather;
    const bool scatters =
        algorithm.kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::Scatter;
    for (std::uint32_t member = 0; member < program.members(); ++member) {
        ThreadBlockGpu& gpu = algorithm.gpus.emplace_back();
        gpu.input_chunks = gathers ? part : algorithm.chunks;
        gpu.output_chunks = scatters ? part : algorithm.chunks;
        gpu.blocks = MemberBlocks(program, member, scatters ? 'i' : 'o').make();
    }
    return algorithm;
}

}  // namespace astra
