// Chakra files of custom collectives as the converter of astra-sim/collectiveapi writes them:
// without buffers and kinds of steps, offsets within the whole buffer, and without the steps `nop`.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "system/algorithms/algorithm.h"
#include "system/program/verifier/verifier.h"
#include "system/tuning/algorithm_choice.h"
#include "tests/workload/trace_maker.h"
#include "workload/custom_collective/chakra_collective.h"
#include "workload/custom_collective/program_blocks.h"

namespace astra::test {
namespace {

struct Case {
    const char* name;
    CollectiveKind kind;
    std::uint32_t members;
    const char* collective;  // as the converter calls it
};

const std::vector<Case>& cases() {
    static const std::vector<Case> all = {
        {"ring", CollectiveKind::AllGather, 2, "allgather"},
        {"ring", CollectiveKind::AllGather, 5, "allgather"},
        {"bruck", CollectiveKind::AllGather, 6, "allgather"},
        {"ring", CollectiveKind::ReduceScatter, 5, "reducescatter"},
        {"pat", CollectiveKind::ReduceScatter, 7, "reducescatter"},
        {"ring", CollectiveKind::AllReduce, 4, "allreduce"},
        {"halvingDoubling", CollectiveKind::AllReduce, 6, "allreduce"},
        {"ncclTree", CollectiveKind::AllReduce, 7, "allreduce"},
        {"chain4", CollectiveKind::Broadcast, 4, "broadcast"},
        {"binomial", CollectiveKind::Reduce, 6, "reduce"}};
    return all;
}

ThreadBlockAlgorithm algorithm_of(const Case& c) {
    const AlgorithmChoice choice = parse_algorithm(c.name);
    const Program program = make_program(*choice.algorithm, choice.shape(c.kind, c.members));
    return thread_block_algorithm_of(program, c.kind, 0, c.name);
}

// Each step behind a nop that does its waiting.
ThreadBlockAlgorithm with_nops(ThreadBlockAlgorithm algorithm) {
    for (ThreadBlockGpu& gpu : algorithm.gpus) {
        for (ThreadBlock& block : gpu.blocks) {
            std::vector<ThreadBlockStep> steps;
            for (ThreadBlockStep step : block.steps) {
                ThreadBlockStep nop;
                if (step.wait) {
                    nop.wait = ThreadBlocks::Wait{step.wait->thread_block, 2 * step.wait->step + 1};
                }
                step.wait.reset();
                steps.push_back(nop);
                steps.push_back(step);
            }
            block.steps = std::move(steps);
        }
    }
    return algorithm;
}

// The file of one GPU.
class Converter {
  public:
    Converter(const ThreadBlockAlgorithm& algorithm, std::size_t gpu, const std::string& collective)
        : algorithm_(algorithm), gpu_(algorithm.gpus[gpu]) {
        const auto text = [](std::string_view name, std::string_view value) {
            return text_field(2, text_field(1, name) + text_field(29, value));
        };
        const std::string message = text("schema", "1.0.2-chakra.0.0.4") +
                                    (collective.empty() ? "" : text("collective", collective));
        bytes_ = varint(message.size()) + message;
    }

    std::string write() {
        number();
        for (const ThreadBlock& block : gpu_.blocks) {
            std::optional<std::uint64_t> previous;
            std::vector<std::uint64_t> waits;
            for (std::uint32_t s = 0; s < block.steps.size(); ++s) {
                const ThreadBlockStep& step = block.steps[s];
                if (step.wait) {
                    waits.push_back(last_.at({step.wait->thread_block, step.wait->step}));
                }
                if (step.type == StepType::Nop) {
                    continue;
                }
                if (previous) {
                    waits.push_back(*previous);
                }
                previous = add(block, s, waits);
                waits.clear();
            }
        }
        return bytes_;
    }

  private:
    // What waits for a step waits for its last node; rrc has a second one, its computation.
    void number() {
        std::uint64_t next = 0;
        for (const ThreadBlock& block : gpu_.blocks) {
            for (std::uint32_t s = 0; s < block.steps.size(); ++s) {
                if (block.steps[s].type != StepType::Nop) {
                    next += block.steps[s].type == StepType::ReceiveReduceCopy ? 2 : 1;
                    last_[{block.id, s}] = next - 1;
                }
            }
        }
    }

    std::uint64_t add(const ThreadBlock& block,
                      std::uint32_t place,
                      const std::vector<std::uint64_t>& parents) {
        const ThreadBlockStep& step = block.steps[place];
        const bool sends = step.type == StepType::Send;
        const bool reduces = step.type == StepType::ReceiveReduceCopy;
        EXPECT_TRUE(sends || reduces || step.type == StepType::Receive);
        const std::int64_t offset = sends ? step.source_offset : step.destination_offset;
        std::string attributes =
            int64_attribute(sends ? "comm_dst" : "comm_src", sends ? *block.send : *block.receive) +
            int64_attribute("comm_tag", block.channel) +
            int64_attribute("msg_chunk_cnt", step.count) +
            int64_attribute("msg_chunk_idx", offset) + int64_attribute("chunk_offset", offset) +
            int64_attribute("total_chunk_cnt", algorithm_.chunks) +
            int64_attribute("local_time_step", place) + int64_attribute("tb_id", block.id) +
            int64_attribute("hasdep", 0) +
            int64_attribute("depid", step.wait ? std::int64_t{step.wait->thread_block} : -1) +
            int64_attribute("deps", step.wait ? std::int64_t{step.wait->step} : -1);
        if (reduces) {
            attributes += int64_attribute("is_rrc", 1);
        }
        const std::uint64_t id = next_++;
        bytes_ += node(id, sends ? "SEND" : "RECV", sends ? Send : Recv, parents, attributes);
        if (reduces) {
            bytes_ += node(next_++, "COMP", Comp, {id}, number_field(7, 1));
            return id + 1;
        }
        return id;
    }

    const ThreadBlockAlgorithm& algorithm_;
    const ThreadBlockGpu& gpu_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> last_;
    std::uint64_t next_ = 0;
    std::string bytes_;
};

ThreadBlockAlgorithm converted(const ThreadBlockAlgorithm& algorithm,
                               const std::string& collective) {
    const Folder folder;
    for (std::size_t gpu = 0; gpu < algorithm.gpus.size(); ++gpu) {
        folder.write("a." + std::to_string(gpu) + ".et",
                     Converter(algorithm, gpu, collective).write());
    }
    const ChakraCollective collective_files = read_chakra_collective(folder.file("a"));
    EXPECT_TRUE(collective_files.blocks);
    return *collective_files.blocks;
}

TEST(Collectiveapi, FilesDoWhatTheProgramDoes) {
    for (const Case& c : cases()) {
        const ThreadBlockAlgorithm read = converted(algorithm_of(c), c.collective);
        EXPECT_EQ(read.kind, c.kind) << c.name;
        const Verdict verdict = verify(program_of(read), c.kind, 0);
        EXPECT_TRUE(verdict.correct) << c.name << " " << name_of(c.kind) << ": " << verdict.fault;
    }
}

TEST(Collectiveapi, StepsLeftOutAreNops) {
    for (const Case& c : cases()) {
        const ThreadBlockAlgorithm asked = with_nops(algorithm_of(c));
        const ThreadBlockAlgorithm read = converted(asked, c.collective);
        ASSERT_EQ(read.gpus.size(), asked.gpus.size());
        for (std::size_t gpu = 0; gpu < read.gpus.size(); ++gpu) {
            ASSERT_EQ(read.gpus[gpu].blocks.size(), asked.gpus[gpu].blocks.size());
            for (std::size_t b = 0; b < read.gpus[gpu].blocks.size(); ++b) {
                const auto& steps = read.gpus[gpu].blocks[b].steps;
                const auto& wanted = asked.gpus[gpu].blocks[b].steps;
                ASSERT_EQ(steps.size(), wanted.size());
                for (std::size_t s = 0; s < steps.size(); ++s) {
                    EXPECT_EQ(steps[s].type, wanted[s].type);
                    EXPECT_EQ(steps[s].wait, wanted[s].wait) << c.name << " step " << s;
                }
            }
        }
        const Verdict verdict = verify(program_of(read), c.kind, 0);
        EXPECT_TRUE(verdict.correct) << c.name << " " << name_of(c.kind) << ": " << verdict.fault;
    }
}

TEST(Collectiveapi, StepsDoNotGoBackOrTooFarAhead) {
    const auto fault = [](std::uint32_t place) {
        ThreadBlockAlgorithm algorithm = algorithm_of(cases()[0]);
        // Steps in front of all others; nobody waits for them.
        for (ThreadBlockGpu& gpu : algorithm.gpus) {
            for (ThreadBlock& block : gpu.blocks) {
                block.steps.insert(block.steps.begin(), place, ThreadBlockStep{});
                for (ThreadBlockStep& step : block.steps) {
                    if (step.wait) {
                        step.wait->step += place;
                    }
                }
            }
        }
        try {
            converted(algorithm, "allgather");
        } catch (const TraceError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(fault(1024), "");
    EXPECT_THAT(fault(1025), testing::HasSubstr("where step 0 is expected"));
}

}  // namespace
}  // namespace astra::test
