// What a program says that switches do: which of its messages these can be, and that its data are
// those of the messages one by one.
#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "tests/system/program/hand_written.h"

namespace astra {
namespace {

constexpr std::array<std::uint32_t, 2> kOthers = {1, 2};

// A reduce_scatter of three members: everyone sends each block to its owner, where the sum of them
// comes out of the switch.
TEST(SwitchCheck, ProvesAReductionByItsMessages) {
    ProgramBuilder builder(Relation::Rotation, 3, 3);
    builder.begin_role();
    builder.send(1, {1});
    builder.send(2, {2});
    builder.receive_reduced(kOthers, {0});
    const Program program = builder.finish();
    expect_correct(program, CollectiveKind::ReduceScatter);
    ASSERT_NE(program.switch_operations(), nullptr);
    EXPECT_EQ(program.switch_operations()->reductions,
              (std::vector<SwitchOperations::Messages>{{0, 2}}));
    EXPECT_TRUE(program.switch_operations()->multicasts.empty());
}

// An all_gather: one message up to the switch, which copies it to all others.
TEST(SwitchCheck, ProvesAMulticastByItsMessages) {
    ProgramBuilder builder(Relation::Rotation, 3, 3);
    builder.begin_role();
    builder.multicast(kOthers, {0});
    builder.receive(1, {1}, false);
    builder.receive(2, {2}, false);
    const Program program = builder.finish();
    expect_correct(program, CollectiveKind::AllGather);
    EXPECT_EQ(program.switch_operations()->multicasts,
              (std::vector<SwitchOperations::Messages>{{0, 2}}));
}

// The sum that comes out of the switch lacks a member: what the messages lack, the verifier finds.
TEST(SwitchCheck, FindsAReductionThatLacksAMember) {
    ProgramBuilder builder(Relation::Absolute, 3, 1);
    builder.begin_role();
    builder.receive_reduced(std::array<std::uint32_t, 1>{1}, {0});
    builder.begin_role();
    builder.send(0, {0});
    builder.begin_role();
    expect_fault(builder.finish(),
                 CollectiveKind::Reduce,
                 "at the end: member 0, block 0: lacks the contribution of member 2");
}

// One peer alone is nothing to copy or to add: nothing is stored.
TEST(SwitchCheck, TakesOnePeerAsAPlainMessage) {
    ProgramBuilder builder(Relation::Absolute, 2, 1);
    builder.begin_role();
    builder.multicast(std::array<std::uint32_t, 1>{1}, {0});
    builder.begin_role();
    builder.receive(0, {0}, false);
    const Program program = builder.finish();
    expect_correct(program, CollectiveKind::Broadcast);
    EXPECT_EQ(program.switch_operations(), nullptr);
}

TEST(SwitchCheck, RefusesAMulticastThatReachesAMemberTwice) {
    ProgramBuilder builder(Relation::Absolute, 2, 1);
    builder.begin_role();
    builder.multicast(std::array<std::uint32_t, 2>{1, 1}, {0});
    builder.receive(1, {0}, false);
    builder.begin_role();
    builder.receive(0, {0}, false);
    builder.send(0, {0});
    builder.receive(0, {0}, false);
    expect_fault(builder.finish(),
                 CollectiveKind::Broadcast,
                 "member 0, step 0: a multicast goes to member 1 twice");
}

// In a barrier it does no harm to know twice that member 1 has entered, but no switch adds two
// messages of one port to a sum.
TEST(SwitchCheck, RefusesAReductionThatTakesTwoMessagesOfAMember) {
    ProgramBuilder builder(Relation::Absolute, 2, 1);
    builder.begin_role();
    builder.send(1, {0});
    builder.receive_reduced(std::array<std::uint32_t, 2>{1, 1}, {0});
    builder.begin_role();
    builder.send(0, {0});
    builder.send(0, {0});
    builder.receive(0, {0}, false);
    expect_fault(builder.finish(),
                 CollectiveKind::Barrier,
                 "member 0, step 1: a reduction takes messages of member 1 twice");
}

// An all_reduce in one go, every member's block summed up and the sum copied by the switch: each
// message would be part of both.
TEST(SwitchCheck, RefusesAMessageThatIsBothCopiedAndSummedUp) {
    ProgramBuilder builder(Relation::Rotation, 3, 1);
    builder.begin_role();
    builder.multicast(kOthers, {0});
    builder.receive_reduced(kOthers, {0});
    expect_fault(builder.finish(),
                 CollectiveKind::AllReduce,
                 "member 0, step 1: a reduction takes a message of member 1 that is also "
                 "multicast");
}

}  // namespace
}  // namespace astra
