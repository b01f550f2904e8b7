// Which messages take turns at their receiver, and when it is whose.
#include "system/program/turn_order.h"

#include <vector>

#include <gtest/gtest.h>

#include "system/algorithms/algorithm.h"
#include "tests/system/program/hand_written.h"

namespace astra {
namespace {

TEST(TurnOrder, FollowsTheReceives) {
    std::vector<Role> roles(3);
    roles[0] = {send(2, {0})};
    roles[1] = {send(2, {1})};
    roles[2] = {take_turns(), receive(1, {1}), receive(0, {0})};
    const Program program = absolute(3, roles);
    ASSERT_TRUE(program.order().takes_turns);
    EXPECT_EQ(program.order().turns, 1U);
    EXPECT_EQ(program.send(0).turn, 1U);  // of member 0
    EXPECT_EQ(program.send(1).turn, 0U);
    ASSERT_EQ(program.in_turn(2, 0, 1).size(), 1U);
    EXPECT_EQ(program.receive(program.in_turn(2, 0, 1)[0]).peer, 0U);
    EXPECT_TRUE(program.in_turn(2, 0, 2).empty());
}

// One sender's messages are in order anyway, and nothing is kept of them.
TEST(TurnOrder, IsForSeveralSenders) {
    std::vector<Role> roles(2);
    roles[0] = {send(1, {0}), send(1, {1})};
    roles[1] = {take_turns(), receive(0, {0}), receive(0, {1})};
    const Program program = absolute(2, roles);
    EXPECT_FALSE(program.order().takes_turns);
    EXPECT_EQ(program.send(0).turns, Program::kNoTurns);
}

// In a pairwise exchange the k-th message to a member leaves after k others have.
TEST(TurnOrder, OfAPairwiseExchangeIsItsSteps) {
    for (const std::uint32_t members : {8U, 6U}) {
        const ProgramShape shape{CollectiveKind::AllToAll, members, 0, 0};
        const Program program = make_program(*collective_algorithms().find("pairwise"), shape);
        ASSERT_EQ(program.stored_sends(), members - 1);
        for (std::uint32_t step = 0; step + 1 < members; ++step) {
            EXPECT_EQ(program.send(step).turn, step);
        }
    }
}

}  // namespace
}  // namespace astra
