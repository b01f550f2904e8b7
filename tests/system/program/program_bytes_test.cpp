// What programs send: every byte that an algorithm is known to move, and no more.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "system/algorithms/algorithm.h"
#include "system/tuning/algorithm_choice.h"

namespace astra {
namespace {

// What all members send together, of a buffer of `size`.
std::uint64_t bytes_sent(const Program& program, Bytes size) {
    std::uint64_t sum = 0;
    for (std::uint32_t member = 0; member < program.members(); ++member) {
        for (const Program::Step& step : program.steps(member)) {
            for (std::uint32_t i = 0; i < step.sends; ++i) {
                const Program::Send& send = program.send(step.first_send + i);
                sum += program.bytes_of(send.payload, member, size).count;
            }
        }
    }
    return sum;
}

// The same, as the receivers see it.
std::uint64_t bytes_received(const Program& program, Bytes size) {
    std::uint64_t sum = 0;
    for (std::uint32_t member = 0; member < program.members(); ++member) {
        for (const Program::Step& step : program.steps(member)) {
            for (std::uint32_t i = 0; i < step.receives; ++i) {
                const Program::Receive& receive = program.receive(step.first_receive + i);
                sum += program.bytes_of(receive.payload, member, size).count;
            }
        }
    }
    return sum;
}

void expect_bytes(const std::string& name,
                  CollectiveKind kind,
                  std::uint32_t members,
                  std::uint64_t expected) {
    // A prime, so that no number of blocks divides it.
    constexpr Bytes kSize{1'000'003};
    const AlgorithmChoice choice = parse_algorithm(name);
    const CollectiveAlgorithm* algorithm = choice.algorithm;
    ASSERT_NE(algorithm, nullptr) << name;
    const ProgramShape shape = choice.shape(kind, members);
    ASSERT_EQ(algorithm->refusal(shape), "") << name << " " << name_of(kind) << " of " << members;
    const Program program = make_program(*algorithm, shape);
    EXPECT_EQ(bytes_sent(program, kSize), expected * kSize.count)
        << name << " " << name_of(kind) << " of " << members;
    EXPECT_EQ(bytes_received(program, kSize), expected * kSize.count)
        << name << " " << name_of(kind) << " of " << members;
}

// In a reduce_scatter every member but the owner of a block passes that block on exactly once, with
// what it has added to it: n-1 messages for each block, (n-1)·S for all, however uneven the blocks
// are. An all_gather is the mirror image: every member but the owner receives each block once. An
// all_reduce is one after the other: 2(n-1)·S. The three algorithms differ in who talks to whom,
// not in this.
TEST(ProgramBytesTest, BytesOfReductionsAreExactForUnevenBlocks) {
    for (const std::uint32_t n : {3U, 7U, 8U, 16U}) {
        for (const std::string name : {"ring", "direct", "halvingDoubling"}) {
            if (name == "halvingDoubling" && (n & (n - 1)) != 0) {
                continue;
            }
            expect_bytes(name, CollectiveKind::AllReduce, n, 2 * (n - 1));
            expect_bytes(name, CollectiveKind::ReduceScatter, n, n - 1);
            expect_bytes(name, CollectiveKind::AllGather, n, n - 1);
        }
    }
}

// Folding, with p the largest power of two below n: n-p members send S and get S back, and the p
// others do an all_reduce among them: 2(n-p)·S + 2(p-1)·S = 2(n-1)·S.
TEST(ProgramBytesTest, BytesOfAFoldedAllReduce) {
    for (const std::uint32_t n : {3U, 6U, 7U, 17U}) {
        expect_bytes("halvingDoubling", CollectiveKind::AllReduce, n, 2 * (n - 1));
    }
}

// A tree has n-1 edges. A broadcast sends S down each; the double binary tree S up and S down.
TEST(ProgramBytesTest, BytesOfTrees) {
    for (const std::uint32_t n : {2U, 3U, 7U, 8U, 16U}) {
        expect_bytes("binomial", CollectiveKind::Broadcast, n, n - 1);
        expect_bytes("doubleBinaryTree", CollectiveKind::AllReduce, n, 2 * (n - 1));
    }
}

// Block b of each of the n-1 other members has to come to member b. Direct: each in one message,
// sum over b of (n-1)·|b| = (n-1)·S. Ring: the block from the member at distance d passes d links,
// so that the sum over b and d of d·|b| = S·(1 + … + n-1) = n(n-1)/2·S.
TEST(ProgramBytesTest, BytesOfAllToAll) {
    for (const std::uint32_t n : {2U, 3U, 7U, 8U, 16U}) {
        expect_bytes("direct", CollectiveKind::AllToAll, n, n - 1);
        expect_bytes("ring", CollectiveKind::AllToAll, n, n * (n - 1) / 2);
    }
}

TEST(ProgramBytesTest, ABarrierMovesNoBytes) {
    expect_bytes("dissemination", CollectiveKind::Barrier, 11, 0);
}

// Bruck's, PAT and two levels move a block to its owner, or from it, along a tree as well: n-1
// messages of it.
TEST(ProgramBytesTest, LogarithmicAndHierarchicalAlgorithmsSendNoMore) {
    for (const std::uint32_t n : {4U, 6U, 7U, 8U, 16U, 24U}) {
        for (const std::string name :
             {"bruck", "pat", "pat1", "pat3", "hierarchical2", "bidirectionalRing", "multiRing3"}) {
            if (name == "hierarchical2" && n % 2 != 0) {
                continue;
            }
            expect_bytes(name, CollectiveKind::AllReduce, n, 2 * (n - 1));
            expect_bytes(name, CollectiveKind::ReduceScatter, n, n - 1);
            expect_bytes(name, CollectiveKind::AllGather, n, n - 1);
        }
    }
    expect_bytes("recursiveDoubling", CollectiveKind::ReduceScatter, 16, 15);
    expect_bytes("recursiveDoubling", CollectiveKind::AllGather, 16, 15);
    // All of it in each of log2 n exchanges.
    expect_bytes("recursiveDoubling", CollectiveKind::AllReduce, 16, 16 * 4);
}

// However they are joined and cut, rings and trees pass every byte over n-1 edges, twice.
TEST(ProgramBytesTest, RingsAndTreesOfAnAllReduce) {
    for (const std::uint32_t n : {2U, 3U, 7U, 8U, 16U}) {
        for (const char* name : {"bidirectionalRing",
                                 "multiRing",
                                 "multiRing3",
                                 "ncclTree",
                                 "ncclTree1",
                                 "binomial"}) {
            expect_bytes(name, CollectiveKind::AllReduce, n, 2 * (n - 1));
        }
        for (const char* name : {"binomial", "flat", "chain", "chain3"}) {
            expect_bytes(name, CollectiveKind::Broadcast, n, n - 1);
            expect_bytes(name, CollectiveKind::Reduce, n, n - 1);
        }
    }
}

// A block passes as many links as its owner is away from the root: 1 + … + n-1.
TEST(ProgramBytesTest, ChainsOfBlocks) {
    for (const std::uint32_t n : {2U, 3U, 7U, 8U, 16U}) {
        for (const char* name : {"chain", "chain3"}) {
            const AlgorithmChoice choice = parse_algorithm(name);
            for (const CollectiveKind kind : {CollectiveKind::Gather, CollectiveKind::Scatter}) {
                const Program program = make_program(*choice.algorithm, choice.shape(kind, n));
                // 6 B for each member.
                EXPECT_EQ(bytes_sent(program, Bytes{6ULL * n}), 6ULL * n * (n - 1) / 2) << name;
            }
        }
    }
}

// Pairwise: as direct. Bruck: the block for the member j ahead moves once for every one of j in
// binary; over all j < n = 2^L that is n/2·L times. Two levels of G and O = n/G: to a member come
// the blocks of the O(G-1) members at other positions inside, G(O-1) across.
TEST(ProgramBytesTest, AllToAllOfFewerMessages) {
    expect_bytes("pairwise", CollectiveKind::AllToAll, 8, 7);
    expect_bytes("pairwise", CollectiveKind::AllToAll, 7, 6);
    expect_bytes("bruck", CollectiveKind::AllToAll, 8, 4 * 3);
    expect_bytes("bruck", CollectiveKind::AllToAll, 32, 16 * 5);
    // 1, 2, 3, 4, 5 have 7 ones.
    expect_bytes("bruck", CollectiveKind::AllToAll, 6, 7);
    expect_bytes("hierarchical4", CollectiveKind::AllToAll, 8, 2 * 3 + 4 * 1);
    expect_bytes("hierarchical3", CollectiveKind::AllToAll, 12, 4 * 2 + 3 * 3);
}

// No message of PAT is longer than it may be, and there are as few as that allows: each doubles
// the blocks until A, then A at a time.
TEST(ProgramBytesTest, PatKeepsToItsBound) {
    const CollectiveAlgorithm* pat = parse_algorithm("pat").algorithm;
    ASSERT_NE(pat, nullptr);
    for (const std::uint32_t most : {1U, 2U, 4U, 8U}) {
        const Program program = make_program(*pat, {CollectiveKind::AllGather, 64, most});
        std::uint32_t longest = 0;
        for (std::uint32_t i = 0; i < program.stored_sends(); ++i) {
            longest = std::max(longest, program.send(i).payload.count);
        }
        EXPECT_EQ(longest, most);
        // 1 + 2 + … + A/2 = A - 1 blocks in log2 A messages; the other 64 - A in 64/A - 1.
        EXPECT_EQ(program.stored_sends(), std::bit_width(most) - 1 + 64 / most - 1);
    }
}

}  // namespace
}  // namespace astra
