// Programs that need a sender to be further ahead than messages of a connection may be.
#include "system/program/verifier/run_ahead_check.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/system/program/hand_written.h"

namespace astra {
namespace {

// A broadcast of `ahead` + 1 blocks: the root sends the first `ahead` to member 1, which first
// waits for the last one. That goes round by member 2, behind the others in the root's channel.
Program last_block_first(std::uint32_t ahead) {
    std::vector<Role> roles(3);
    for (std::uint32_t block = 0; block < ahead; ++block) {
        roles[0].push_back(send(1, {block}));
    }
    roles[0].push_back(send(2, {ahead}));
    roles[1].push_back(receive(2, {ahead}));
    roles[1].push_back(send(0, {ahead}));  // a step of its own
    roles[2].push_back(receive(0, {ahead}));
    roles[2].push_back(send(1, {ahead}));
    for (std::uint32_t block = 0; block < ahead; ++block) {
        roles[0].push_back(send(2, {block}));
        roles[1].push_back(receive(0, {block}));
        roles[2].push_back(receive(0, {block}));
    }
    roles[0].push_back(receive(1, {ahead}));
    return absolute(ahead + 1, roles);
}

TEST(RunAheadCheckTest, NamesAStepThatWaitsBehindWhatIsNotTaken) {
    expect_correct(last_block_first(8), CollectiveKind::Broadcast);
    expect_fault(last_block_first(9),
                 CollectiveKind::Broadcast,
                 "deadlock: member 0, step 1: waits for ever where a sender may be 8 messages "
                 "ahead of its receiver");
}

TEST(RunAheadCheckTest, HoldsForTheBoundThatItIsGiven) {
    const Program program = last_block_first(5);
    EXPECT_EQ(RunAheadCheck(program, 5).fault(), "");
    EXPECT_NE(RunAheadCheck(program, 4).fault(), "");
}

// Members 0 and 1 each send to 2 and to 3. What 2 and 3 receive takes turns in an order of their
// own: `crossed`, each of the four messages waits for another one to leave first.
Program two_to_two(bool crossed) {
    std::vector<Role> roles(4);
    roles[0] = {send(2, {0}), send(3, {0})};
    roles[1] = crossed ? Role{send(3, {1}), send(2, {1})} : Role{send(2, {1}), send(3, {1})};
    roles[2] = {take_turns(), receive(1, {1}), receive(0, {0})};
    roles[3] = {take_turns(), receive(0, {0}), receive(1, {1})};
    if (!crossed) {
        std::swap(roles[3][1], roles[3][2]);
    }
    return absolute(4, roles);
}

TEST(RunAheadCheckTest, NamesTurnsThatWaitForEachOther) {
    EXPECT_EQ(RunAheadCheck(two_to_two(false), 8).fault(), "");
    EXPECT_EQ(RunAheadCheck(two_to_two(true), 8).fault(),
              "deadlock: member 2, step 0: waits for ever where messages take turns at their "
              "receiver and a sender may be 8 messages ahead of it");
}

}  // namespace
}  // namespace astra
