// Levels of algorithms: that they keep their promise on every size that factors, and what they
// send.
#include <cstdint>
#include <numeric>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/algorithms/algorithm.h"
#include "system/tuning/algorithm_choice.h"
#include "tests/support/hierarchy.h"

namespace astra {
namespace {

TEST(HierarchicalTest, EveryAlgorithmAtEveryLevelKeepsThePromise) {
    for (std::uint32_t members = 4; members <= 17; ++members) {
        const bool factors = !factorisations(members).empty();
        EXPECT_EQ(prove_hierarchies(members) > 0, factors) << members;
    }
}

TEST(HierarchicalTest, OneLevelIsTheAlgorithmItself) {
    for (const std::uint32_t n : {2U, 3U, 8U, 13U}) {
        EXPECT_TRUE(expect_proved("hierarchical1", CollectiveKind::AllReduce, n));
        EXPECT_TRUE(expect_proved(
            "hierarchical" + std::to_string(n) + ":ncclTree2", CollectiveKind::AllReduce, n));
    }
}

// Each level of a 2 x 3 x 4 group sends along a tree, whatever the algorithm: a block passes n-1
// edges to its owner, and n-1 back.
TEST(HierarchicalTest, SendsNoMoreThanWithoutLevels) {
    constexpr std::uint32_t kMembers = 24;
    constexpr Bytes kSize{1'000'003};
    for (const char* name : {"hierarchical2x3",
                             "hierarchical2x3:halvingDoubling-direct-bruck",
                             "hierarchical4x3:pat-bidirectionalRing-ncclTree",
                             "hierarchical4x2:multiRing-halvingDoubling-binomial"}) {
        const AlgorithmChoice choice = parse_algorithm(name);
        ASSERT_TRUE(choice.valid()) << choice.fault;
        const Program program =
            make_program(*choice.algorithm, choice.shape(CollectiveKind::AllReduce, kMembers));
        std::uint64_t sent = 0;
        for (std::uint32_t member = 0; member < kMembers; ++member) {
            for (const Program::Step& step : program.steps(member)) {
                for (std::uint32_t i = 0; i < step.sends; ++i) {
                    const Program::Send& send = program.send(step.first_send + i);
                    sent += program.bytes_of(send.payload, member, kSize).count;
                }
            }
        }
        EXPECT_EQ(sent, 2 * (kMembers - 1) * kSize.count) << name;
    }
}

// The bytes of a payload are those of its blocks one by one.
TEST(HierarchicalTest, BytesOfALevelAreThoseOfItsBlocks) {
    for (const CollectiveKind kind : {CollectiveKind::AllReduce, CollectiveKind::AllToAll}) {
        const AlgorithmChoice choice = parse_algorithm(
            kind == CollectiveKind::AllReduce ? "hierarchical3x2:bidirectionalRing-direct-ncclTree3"
                                              : "hierarchical3x2:bruck-direct-pairwise");
        const Program program = make_program(*choice.algorithm, choice.shape(kind, 24));
        for (std::uint32_t member = 0; member < 24; ++member) {
            for (const Program::Step& step : program.steps(member)) {
                for (std::uint32_t k = 0; k < step.sends; ++k) {
                    const Payload& payload = program.send(step.first_send + k).payload;
                    const Bytes size{1'000'003};
                    std::uint64_t sum = 0;
                    for (std::uint32_t i = 0; i < program.elements(payload); ++i) {
                        const std::uint32_t block = program.block_of(member, payload, i);
                        sum += part_of(size, program.blocks(), block).count;
                    }
                    EXPECT_EQ(program.bytes_of(payload, member, size).count, sum);
                }
            }
        }
    }
}

// Receivers weigh what they reduce as its sender does, who sees other blocks where a level is
// relative.
TEST(HierarchicalTest, AReceiverKnowsWhatItsSenderSent) {
    for (const char* name : {"hierarchical2:ring-direct",
                             "hierarchical3x2:bidirectionalRing-halvingDoubling-recursiveDoubling",
                             "hierarchical4:halvingDoubling-ncclTree"}) {
        const AlgorithmChoice choice = parse_algorithm(name);
        const Program program =
            make_program(*choice.algorithm, choice.shape(CollectiveKind::AllReduce, 12));
        for (const Bytes size : {Bytes{1'000'003}, Bytes{5}}) {
            for (std::uint32_t member = 0; member < 12; ++member) {
                for (const Program::Step& step : program.steps(member)) {
                    for (std::uint32_t i = 0; i < step.sends; ++i) {
                        const std::uint32_t index = step.first_send + i;
                        const Program::Send& send = program.send(index);
                        const std::uint32_t receiver = program.peer_of(member, send.peer);
                        const std::uint32_t seen = program.sender_of(receiver, index);
                        EXPECT_EQ(program.bytes_of(send.payload, seen, size),
                                  program.bytes_of(send.payload, member, size))
                            << name << ", member " << member << ", send " << index;
                    }
                }
            }
        }
    }
}

// A rail of the highest level carries what the levels below have left: of 64 members in levels of
// 8, 4 and 2 a member sends 7/8 S inside, 3/4 of S/8, and once 1/2 of S/32, and as much back.
TEST(HierarchicalTest, OuterLevelsCarryLess) {
    const AlgorithmChoice choice = parse_algorithm("hierarchical8x4:direct-ring-recursiveDoubling");
    const Program program =
        make_program(*choice.algorithm, choice.shape(CollectiveKind::AllReduce, 64));
    constexpr std::uint64_t kSize = 1U << 20;
    std::uint64_t sent[3] = {0, 0, 0};
    for (const Program::Step& step : program.steps(5)) {
        for (std::uint32_t i = 0; i < step.sends; ++i) {
            const Program::Send& send = program.send(step.first_send + i);
            const std::uint32_t peer = program.peer_of(5, send.peer);
            const int level = peer / 8 == 0 ? 0 : peer / 32 == 0 ? 1 : 2;
            sent[level] += program.bytes_of(send.payload, 5, Bytes{kSize}).count;
        }
    }
    EXPECT_EQ(sent[0], 2 * (kSize - kSize / 8));
    EXPECT_EQ(sent[1], 2 * (kSize / 8 - kSize / 32));
    // Recursive doubling of two: all that is left, once.
    EXPECT_EQ(sent[2], kSize / 32);
}

TEST(HierarchicalTest, SaysWhatItCannotDo) {
    const auto refusal = [](const char* name, CollectiveKind kind, std::uint32_t members) {
        const AlgorithmChoice choice = parse_algorithm(name);
        EXPECT_TRUE(choice.valid()) << choice.fault;
        return choice.algorithm->refusal(choice.shape(kind, members));
    };
    EXPECT_EQ(refusal("hierarchical", CollectiveKind::AllReduce, 8),
              "it needs the size of a group behind its name, as in hierarchical8");
    EXPECT_EQ(refusal("hierarchical2x3", CollectiveKind::AllReduce, 8),
              "groups of 6 do not divide them");
    EXPECT_EQ(refusal("hierarchical4294967295x4294967295", CollectiveKind::AllReduce, 8),
              "groups of 4294967295 do not divide them");
    EXPECT_EQ(refusal("hierarchical3:ring-halvingDoubling", CollectiveKind::AllGather, 18),
              "at level 2, all_gather of 6 members by 'halvingDoubling': for this kind it needs a "
              "power of two of members");
    EXPECT_EQ(refusal("hierarchical2:ncclTree-ring", CollectiveKind::AllReduce, 8),
              "at level 1, reduce_scatter of 2 members by 'ncclTree': it does all_reduce only");
    // 2^20 members that each store 2 sends a slice: as many as the level would, in every group.
    EXPECT_THAT(refusal("hierarchical2:ring-ncclTree500000", CollectiveKind::AllReduce, 8),
                testing::HasSubstr("at most 4194304 are possible"));
    EXPECT_THAT(refusal("hierarchical1024:ring-ncclTree256", CollectiveKind::AllReduce, 4'096),
                testing::HasSubstr("at most 4194304 are possible"));
}

TEST(HierarchicalTest, SaysWhatIsNoName) {
    const auto fault = [](const char* name) {
        const AlgorithmChoice choice = parse_algorithm(name);
        EXPECT_FALSE(choice.valid()) << name;
        return choice.fault;
    };
    EXPECT_EQ(fault("hierarchical8:rign"),
              "algorithm 'hierarchical8:rign': unknown algorithm 'rign'; did you mean 'ring'?");
    EXPECT_EQ(fault("hierarchical8:ring-ring-ring"),
              "algorithm 'hierarchical8:ring-ring-ring': 3 algorithms for 2 levels");
    EXPECT_EQ(fault("hierarchical8x"),
              "algorithm 'hierarchical8x': '8x' is no list of at most 8 group sizes, as in 8x4");
    EXPECT_EQ(fault("hierarchical:ring"),
              "algorithm 'hierarchical:ring': 1 algorithms for 0 levels");
    EXPECT_EQ(fault("hierarchical2:measured"),
              "algorithm 'hierarchical2:measured': 'measured' cannot be the algorithm of a level");
    EXPECT_EQ(
        fault("hierarchical2:hierarchical2"),
        "algorithm 'hierarchical2:hierarchical2': 'hierarchical2' cannot be the algorithm of a "
        "level");
    EXPECT_EQ(fault("oneHierarchical2x0"),
              "algorithm 'oneHierarchical2x0': '2x0' is no list of at most 8 group sizes, as in "
              "8x4");
    for (const char* name : {"hierarchical-8", "hierarchical8x4x", "hierarchical8:", "ring8x4"}) {
        EXPECT_FALSE(parse_algorithm(name).valid()) << name;
    }
}

}  // namespace
}  // namespace astra
