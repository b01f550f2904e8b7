// Programs that are the same for every member up to a rotation or an XOR are stored once: what they
// take grows with their steps, not with members times steps.
#include <cstdint>
#include <string>

#include <gtest/gtest.h>
#include <malloc.h>

#include "system/algorithms/algorithm.h"
#include "system/tuning/algorithm_choice.h"

namespace astra {
namespace {

// In use by the program, as the C library counts it (0 under a sanitizer).
std::uint64_t allocated() {
    const auto info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

struct Row {
    const char* name;
    CollectiveKind kind;
    std::uint64_t steps;  // that a member goes through, with a send each
};

constexpr std::uint32_t kMembers = 16'384;

TEST(ProgramMemoryTest, GrowsWithTheStepsOfOneMember) {
    constexpr std::uint64_t n = kMembers;
    const Row rows[] = {
        {"ring", CollectiveKind::AllReduce, 2 * (n - 1)},
        {"ring", CollectiveKind::AllGather, n - 1},
        {"direct", CollectiveKind::AllToAll, n - 1},
        {"direct", CollectiveKind::AllReduce, 2 * (n - 1)},
        {"pairwise", CollectiveKind::AllToAll, n - 1},
        {"bidirectionalRing", CollectiveKind::AllReduce, 4 * (n - 1)},
        {"halvingDoubling", CollectiveKind::AllReduce, 28},
        {"recursiveDoubling", CollectiveKind::AllReduce, 14},
        {"bruck", CollectiveKind::AllToAll, 14},
        {"pat", CollectiveKind::AllGather, 14},
        {"dissemination", CollectiveKind::Barrier, 14},
        // 7 + 7 + 255 steps, there and back.
        {"hierarchical8x8:ring-direct-ring", CollectiveKind::AllReduce, 2 * (7 + 7 + 255)},
        // 3 + 3 + 8 exchanges, there and back; the last level is an all_reduce of 8.
        {"hierarchical8x8:halvingDoubling-halvingDoubling-recursiveDoubling",
         CollectiveKind::AllReduce,
         2 * (3 + 3) + 8},
    };
    for (const Row& row : rows) {
        const AlgorithmChoice choice = parse_algorithm(row.name);
        ASSERT_TRUE(choice.valid()) << choice.fault;
        const std::uint64_t before = allocated();
        const Program program = make_program(*choice.algorithm, choice.shape(row.kind, kMembers));
        const std::uint64_t after = allocated();
        EXPECT_EQ(program.stored_sends(), row.steps) << row.name;
        // A step, a send and a receive, and what a growing vector keeps in reserve.
        const std::uint64_t most = 4'096 + row.steps * 2 * 128;
        EXPECT_LE(after > before ? after - before : 0, most) << row.name;
    }
}

// Folds and trees differ from member to member: n log n.
TEST(ProgramMemoryTest, TheOthersGrowWithTheMembers) {
    for (const auto& [name, sends] : {std::pair{"halvingDoubling", 28U},
                                      std::pair{"recursiveDoubling", 15U},
                                      std::pair{"binomial", 2U}}) {
        const AlgorithmChoice choice = parse_algorithm(name);
        const Program program =
            make_program(*choice.algorithm, choice.shape(CollectiveKind::AllReduce, 16'383));
        EXPECT_LE(program.stored_sends(), std::uint64_t{sends} * kMembers) << name;
    }
}

// What would not fit is refused before it is made.
TEST(ProgramMemoryTest, WhatDoesNotFitIsRefused) {
    const auto refusal = [](const char* name, CollectiveKind kind, std::uint32_t members) {
        const AlgorithmChoice choice = parse_algorithm(name);
        return choice.algorithm->refusal(choice.shape(kind, members));
    };
    EXPECT_EQ(refusal("ring", CollectiveKind::AllToAll, 2'896), "");
    EXPECT_EQ(refusal("ring", CollectiveKind::AllToAll, 4'096),
              "its program would store 8386560 messages, at most 4194304 are possible");
    EXPECT_EQ(refusal("halvingDoubling", CollectiveKind::AllReduce, 1'048'576), "");
    // 20 bits: at most 40 messages for each of the members.
    EXPECT_EQ(refusal("halvingDoubling", CollectiveKind::AllReduce, 1'048'575),
              "its program would store 41943000 messages, at most 4194304 are possible");
    EXPECT_EQ(refusal("recursiveDoubling", CollectiveKind::AllReduce, 1'048'575),
              "its program would store 22020075 messages, at most 4194304 are possible");
}

}  // namespace
}  // namespace astra
