// Programs of algorithms written as thread blocks, and read back.
#include "workload/custom_collective/program_blocks.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "system/algorithms/algorithm.h"
#include "system/program/verifier/verifier.h"
#include "system/tuning/algorithm_choice.h"

namespace astra {
namespace {

struct Case {
    const char* name;
    CollectiveKind kind;
    std::uint32_t members;
};

Program program(const Case& c) {
    const AlgorithmChoice choice = parse_algorithm(c.name);
    return make_program(*choice.algorithm, choice.shape(c.kind, c.members));
}

// Whatever relation the program has: the thread blocks do what the kind promises, and there are as
// many bytes in them.
TEST(ProgramBlocks, DoWhatTheProgramDoes) {
    for (const Case& c : std::vector<Case>{{"ring", CollectiveKind::AllReduce, 5},
                                           {"ring", CollectiveKind::AllGather, 5},
                                           {"ring", CollectiveKind::ReduceScatter, 5},
                                           {"direct", CollectiveKind::ReduceScatterBlock, 4},
                                           {"bruck", CollectiveKind::AllGather, 6},
                                           {"halvingDoubling", CollectiveKind::AllReduce, 6},
                                           {"hierarchical2", CollectiveKind::AllReduce, 8},
                                           {"ncclTree", CollectiveKind::AllReduce, 7},
                                           {"pat", CollectiveKind::ReduceScatter, 7},
                                           {"chain4", CollectiveKind::Broadcast, 4},
                                           {"binomial", CollectiveKind::Reduce, 6},
                                           {"binomial", CollectiveKind::Gather, 6},
                                           {"flat", CollectiveKind::Scatter, 6}}) {
        Case asked = c;
        if (c.kind == CollectiveKind::ReduceScatterBlock) {
            asked.kind = CollectiveKind::ReduceScatter;
        }
        const Program original = program(asked);
        ASSERT_EQ(thread_blocks_refusal(original, c.kind), "") << c.name;
        const ThreadBlockAlgorithm algorithm =
            thread_block_algorithm_of(original, c.kind, 0, c.name);
        EXPECT_EQ(algorithm.gpus.size(), c.members);
        const Verdict verdict = verify(program_of(algorithm), c.kind, 0);
        EXPECT_TRUE(verdict.correct) << c.name << " " << name_of(c.kind) << ": " << verdict.fault;
    }
}

// Member 0 of a ring of three sends block 2 to member 1 and adds what comes from member 2, and so
// on: two thread blocks, each step after the one before it.
TEST(ProgramBlocks, HaveOneBlockAPeerAndDirection) {
    const Program ring = program({"ring", CollectiveKind::ReduceScatter, 3});
    const ThreadBlockAlgorithm algorithm =
        thread_block_algorithm_of(ring, CollectiveKind::ReduceScatter, 0, "ring");
    const std::vector<ThreadBlock>& blocks = algorithm.gpus[0].blocks;
    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0].send, 1U);
    EXPECT_EQ(blocks[1].receive, 2U);
    ASSERT_EQ(blocks[1].steps.size(), 2U);
    EXPECT_EQ(blocks[1].steps[0].type, StepType::ReceiveReduceCopy);
    EXPECT_EQ(blocks[1].steps[0].wait, (ThreadBlocks::Wait{0, 0}));
    EXPECT_EQ(blocks[0].steps[1].wait, (ThreadBlocks::Wait{1, 0}));
}

TEST(ProgramBlocks, RefuseWhatHasNoPlaceInABuffer) {
    EXPECT_NE(thread_blocks_refusal(program({"bruck", CollectiveKind::AllToAll, 4}),
                                    CollectiveKind::AllToAll),
              "");
    EXPECT_NE(thread_blocks_refusal(program({"dissemination", CollectiveKind::Barrier, 4}),
                                    CollectiveKind::Barrier),
              "");
}

}  // namespace
}  // namespace astra
