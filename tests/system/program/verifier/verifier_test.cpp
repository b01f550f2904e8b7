// Programs broken as the verifier knows them, and correct ones of the kinds that no
// registered algorithm does.
#include "system/program/verifier/verifier.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "system/algorithms/algorithm.h"
#include "system/tuning/algorithm_choice.h"
#include "tests/system/program/hand_written.h"

namespace astra {
namespace {

std::string error_of_finish(const std::vector<Role>& roles) {
    try {
        absolute(1, roles);
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

// An all_reduce of one block: gathered by member 0, then handed out.
std::vector<Role> star() {
    return {{reduce(1), reduce(2), send(1), send(2)}, {send(0), receive(0)}, {send(0), receive(0)}};
}

TEST(VerifierTest, ACorrectProgramHasNoFault) {
    expect_correct(absolute(1, star()), CollectiveKind::AllReduce);
    expect_correct(absolute(1, {{}}), CollectiveKind::AllReduce);
}

TEST(VerifierTest, ADroppedSendIsRefusedByTheBuilder) {
    std::vector<Role> roles = star();
    roles[2].erase(roles[2].begin());
    const std::string error = error_of_finish(roles);
    EXPECT_EQ(error, "program: member 0, step 0: a receive without its send at member 2");
}

TEST(VerifierTest, ADroppedReceiveIsRefusedByTheBuilder) {
    std::vector<Role> roles = star();
    roles[1].pop_back();
    const std::string error = error_of_finish(roles);
    EXPECT_EQ(error, "program: member 0, step 0: a send without its receive at member 1");
}

TEST(VerifierTest, ASendToNobodyIsRefusedByTheBuilder) {
    std::vector<Role> roles = star();
    roles[1].push_back(send(7));
    EXPECT_NE(error_of_finish(roles).find("a send without its receive"), std::string::npos);
}

TEST(VerifierTest, NamesAContributionThatIsReducedTwice) {
    // Member 1 gets the sum back and adds it to its contribution, which is in it.
    std::vector<Role> roles = star();
    roles[1][1].what = Op::What::Reduce;
    expect_fault(absolute(1, roles),
                 CollectiveKind::AllReduce,
                 "member 1, step 1: the contribution of member 1 to block 0 is reduced twice");
}

TEST(VerifierTest, NamesTheSecondReductionOfOneMessage) {
    const std::vector<Role> roles = {{reduce(1), reduce(1), send(1)},
                                     {send(0), send(0), receive(0)}};
    expect_fault(absolute(1, roles),
                 CollectiveKind::AllReduce,
                 "member 0, step 0: the contribution of member 1 to block 0 is reduced twice");
}

TEST(VerifierTest, NamesASwappedBlock) {
    const std::vector<Role> roles = {{send(1, {0}), receive(1, {1})},
                                     {send(0, {0}), receive(0, {0})}};
    expect_fault(absolute(2, roles),
                 CollectiveKind::AllReduce,
                 "member 0, step 1: receives block 1, but member 1 sends block 0");
}

TEST(VerifierTest, NamesADifferentNumberOfBlocks) {
    const std::vector<Role> roles = {{send(1, {0, 1, 2})}, {receive(0, {0, 1, 1})}};
    expect_fault(absolute(2, roles),
                 CollectiveKind::Broadcast,
                 "member 1, step 0: receives 1 blocks, but member 0 sends 2");
}

// The blocks 0 and 2 are as many as 0 and 1.
TEST(VerifierTest, NamesTheBlockOfADifferentStride) {
    const std::vector<Role> roles = {{send(1, {0, 2, 2})}, {receive(0, {0, 1, 2})}};
    expect_fault(absolute(3, roles),
                 CollectiveKind::Broadcast,
                 "member 1, step 0: receives block 1, but member 0 sends block 2");
}

TEST(VerifierTest, NamesAnotherOriginOfTheSameBlock) {
    const std::vector<Role> roles = {{send(1, {1, 1, 1, {0}}), receive(1, {0, 1, 1, {1}})},
                                     {send(0, {0, 1, 1, {1}}), receive(0, {1, 1, 1, {1}})}};
    expect_fault(absolute(2, roles),
                 CollectiveKind::AllToAll,
                 "member 1, step 1: receives block 1 of member 1, but member 0 sends block 1 of "
                 "member 0");
}

TEST(VerifierTest, NamesWhatAMissingStepLeavesOut) {
    // An all_reduce that ends after its reduce_scatter. Block 1 went from member 2 round to member
    // 0, and on to member 1, which alone has all of it.
    const Program half =
        make_program(*parse_algorithm("ring").algorithm, {CollectiveKind::ReduceScatter, 4});
    expect_correct(half, CollectiveKind::ReduceScatter);
    const Verdict verdict = verify(half, CollectiveKind::AllReduce, 0);
    EXPECT_FALSE(verdict.correct);
    EXPECT_EQ(verdict.fault, "at the end: member 0, block 1: lacks the contribution of member 1");

    // An all_gather of three that talks to one neighbour only.
    const Program short_gather = build(Relation::Rotation, 3, 3, {{send(1, {0}), receive(2, {2})}});
    expect_fault(short_gather, CollectiveKind::AllGather, "at the end: member 0 lacks block 1");

    // A barrier of four in one round: nobody hears of the members two behind.
    const Program short_barrier =
        build(Relation::Rotation, 4, 1, {{send(1, {0, 1, 0}), receive(3, {0, 1, 0})}});
    expect_fault(short_barrier,
                 CollectiveKind::Barrier,
                 "at the end: member 0 does not know that member 1 entered");

    // An all_to_all of three that forgets the member two ahead.
    const Program short_transpose =
        build(Relation::Rotation, 3, 3, {{send(1, {1, 1, 1, {0}}), receive(2, {0, 1, 1, {2}})}});
    expect_fault(short_transpose,
                 CollectiveKind::AllToAll,
                 "at the end: member 0 lacks block 0 of member 1");
}

TEST(VerifierTest, NamesADeadlockOfTwoThatBothReceiveFirst) {
    const std::vector<Role> roles = {{reduce(1), send(1)}, {reduce(0), send(0)}};
    expect_fault(absolute(1, roles),
                 CollectiveKind::AllReduce,
                 "deadlock: member 0, step 0: waits for member 1, which waits in step 0");
    // The same, stored once.
    expect_fault(build(Relation::Xor, 2, 2, {{reduce(1, {0}), send(1, {1})}}),
                 CollectiveKind::AllReduce,
                 "deadlock: member 0, step 0: waits for member 1, which waits in step 0");
}

// Members 1 and 2 exchange before they wait for each other in a circle with member 3; member 0 is
// not part of it and finishes.
TEST(VerifierTest, NamesADeadlockInALaterStep) {
    const std::vector<Role> roles = {{},
                                     {send(2), reduce(2), receive(3), send(2)},
                                     {send(1), reduce(1), receive(1), send(3)},
                                     {receive(2), send(1)}};
    expect_fault(absolute(1, roles),
                 CollectiveKind::AllReduce,
                 "deadlock: member 1, step 1: waits for member 3, which waits in step 0");
}

TEST(VerifierTest, NamesDataThatTheSenderDoesNotHold) {
    // A broadcast whose tree starts at member 0 for a root of 1.
    const Program from_zero = absolute(1, {{send(1)}, {receive(0)}});
    expect_correct(from_zero, CollectiveKind::Broadcast, 0);
    expect_fault(from_zero,
                 CollectiveKind::Broadcast,
                 "member 0, step 0: sends block 0, which it does not hold",
                 1);
    // An all_gather that hands on before it has received.
    expect_fault(build(Relation::Rotation, 3, 3, {{send(1, {2}), receive(2, {1})}}),
                 CollectiveKind::AllGather,
                 "member 0, step 0: sends block 2, which it does not hold");
    expect_fault(
        build(Relation::Rotation, 3, 3, {{send(1, {1, 1, 1, {2}}), receive(2, {0, 1, 1, {1}})}}),
        CollectiveKind::AllToAll,
        "member 0, step 0: sends block 1 of member 2, which it does not hold");
}

// What is sent is what the block holds when its step sends, not what it holds in the end.
TEST(VerifierTest, AMessageCarriesTheContentsOfItsStep) {
    // Member 0 answers member 1 before it has heard of member 2.
    const std::vector<Role> roles = {
        {reduce(1), send(1), reduce(2), send(2)}, {send(0), receive(0)}, {send(0), receive(0)}};
    expect_fault(absolute(1, roles),
                 CollectiveKind::AllReduce,
                 "at the end: member 1, block 0: lacks the contribution of member 2");
}

TEST(VerifierTest, APlainReceiveOverwrites) {
    // Member 0 replaces its contribution instead of adding to it.
    const std::vector<Role> roles = {{receive(1), send(1)}, {send(0), receive(0)}};
    expect_fault(absolute(1, roles),
                 CollectiveKind::AllReduce,
                 "at the end: member 0, block 0: lacks the contribution of member 0");
}

TEST(VerifierTest, NumbersOutOfRangeAreNamed) {
    expect_fault(build(Relation::Xor, 3, 4, {{send(1), receive(1)}}),
                 CollectiveKind::Barrier,
                 "member 2, step 0: its peer is member 3, of 3");
    expect_fault(build(Relation::Rotation, 3, 1, {{send(0), receive(0)}}),
                 CollectiveKind::Barrier,
                 "member 0, step 0: its peer is itself");
    expect_fault(absolute(2, {{send(1, {5})}, {receive(0, {5})}}),
                 CollectiveKind::Broadcast,
                 "member 0, step 0: names block 5, of 2");
    expect_fault(absolute(2, {{send(1, {0, 1, 3})}, {receive(0, {0, 1, 3})}}),
                 CollectiveKind::Broadcast,
                 "member 0, step 0: 3 blocks in a message, of 2");
    expect_fault(absolute(2, {{send(1, {0, 1, 1, {9}})}, {receive(0, {0, 1, 1, {9}})}}),
                 CollectiveKind::AllToAll,
                 "member 0, step 0: names a block of member 9, of 2");
    expect_fault(absolute(1, star()), CollectiveKind::Broadcast, "root 3 of 3 members", 3);
    expect_fault(absolute(1, star()), CollectiveKind::AllGather, "1 blocks, but 3 members");
}

// Member 1 is the root.
TEST(VerifierTest, KnowsTheRootedKinds) {
    const Program reduced = absolute(1, {{send(1)}, {reduce(0), reduce(2)}, {send(1)}});
    expect_correct(reduced, CollectiveKind::Reduce, 1);
    expect_fault(reduced,
                 CollectiveKind::Reduce,
                 "at the end: member 0, block 0: lacks the contribution of member 1",
                 0);

    const Program gathered =
        absolute(3, {{send(1, {0})}, {receive(0, {0}), receive(2, {2})}, {send(1, {2})}});
    expect_correct(gathered, CollectiveKind::Gather, 1);
    expect_fault(gathered, CollectiveKind::Gather, "at the end: member 0 lacks block 1", 0);

    const Program scattered =
        absolute(3, {{receive(1, {0})}, {send(0, {0}), send(2, {2})}, {receive(1, {2})}});
    expect_correct(scattered, CollectiveKind::Scatter, 1);
    expect_fault(scattered,
                 CollectiveKind::Scatter,
                 "member 1, step 0: sends block 0, which it does not hold",
                 0);
}

TEST(VerifierTest, NamesTheOriginOfAPairThatIsReducedTwice) {
    const Program program =
        absolute(2,
                 {{send(1, {1, 1, 1, {0}}), send(1, {1, 1, 1, {0}}), receive(1, {0, 1, 1, {1}})},
                  {send(0, {0, 1, 1, {1}}), reduce(0, {1, 1, 1, {0}}), reduce(0, {1, 1, 1, {0}})}});
    expect_fault(
        program,
        CollectiveKind::AllToAll,
        "member 1, step 1: the contribution of member 0 to block 1 of member 0 is reduced twice");
}

// Beyond 64 members a set has more than one word.
TEST(VerifierTest, HandlesMoreThan64Members) {
    for (const std::uint32_t n : {65U, 100U, 128U}) {
        expect_correct(
            make_program(*parse_algorithm("ring").algorithm, {CollectiveKind::AllReduce, n}),
            CollectiveKind::AllReduce);
        expect_correct(
            make_program(*parse_algorithm("dissemination").algorithm, {CollectiveKind::Barrier, n}),
            CollectiveKind::Barrier);
        expect_correct(
            make_program(*parse_algorithm("direct").algorithm, {CollectiveKind::AllToAll, n}),
            CollectiveKind::AllToAll);
        expect_fault(
            make_program(*parse_algorithm("ring").algorithm, {CollectiveKind::ReduceScatter, n}),
            CollectiveKind::AllReduce,
            "at the end: member 0, block 1: lacks the contribution of member 1");
    }
}

// 64·64·63/2 messages; below a second, with room for sanitizers.
TEST(VerifierTest, VerifiesARingAllToAllOf64Quickly) {
    const Program program =
        make_program(*parse_algorithm("ring").algorithm, {CollectiveKind::AllToAll, 64});
    const auto start = std::chrono::steady_clock::now();
    expect_correct(program, CollectiveKind::AllToAll);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

}  // namespace
}  // namespace astra
