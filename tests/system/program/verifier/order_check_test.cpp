// Programs whose messages are taken in the order in which they come.
#include <vector>

#include <gtest/gtest.h>

#include "tests/system/program/hand_written.h"

namespace astra {
namespace {

// An all_gather in which member 2 hands on block 1 after the first of two messages, which in any
// order need not be the one that brings it.
TEST(OrderCheckTest, NamesABlockSentBeforeItsWaveIsOver) {
    std::vector<Role> roles = {
        {send(1, {0}), send(2, {0}), receive(2, {2}), receive(2, {1}), send(1, {2})},
        {send(2, {1}), receive(0, {0}), receive(0, {2})},
        {send(0, {2}),
         begin_any_order(),
         receive(1, {1}),
         send(0, {1}),
         receive(0, {0}),
         end_any_order()}};
    expect_fault(absolute(3, roles),
                 CollectiveKind::AllGather,
                 "member 2, step 1: sends block 1, which messages of the same tag change");
    roles[2].erase(roles[2].begin() + 1);
    expect_correct(absolute(3, roles), CollectiveKind::AllGather);
}

// What the steps of one tag receive may be sent by those of the next.
TEST(OrderCheckTest, ANewWaveDoesNotContinueTheLast) {
    expect_correct(absolute(3,
                            {{send(1, {0}),
                              send(2, {0}),
                              begin_any_order(),
                              receive(1, {1}),
                              end_any_order(),
                              send(2, {1}),
                              begin_any_order(),
                              receive(2, {2}),
                              end_any_order(),
                              send(1, {2})},
                             {send(0, {1}), receive(0, {0}), receive(0, {2})},
                             {send(0, {2}), receive(0, {0}), receive(0, {1})}}),
                   CollectiveKind::AllGather);
}

TEST(OrderCheckTest, NamesABlockThatTwoMessagesOfAWaveChange) {
    const std::vector<Role> roles = {{send(1), send(2)},
                                     {receive(0), send(2)},
                                     {begin_any_order(), receive(0), receive(1), end_any_order()}};
    expect_fault(
        absolute(1, roles),
        CollectiveKind::Broadcast,
        "member 2, step 0: receives block 0, which another message of the same tag changes too");
}

// Member 0 sends both blocks on and reduces only one of them before.
TEST(OrderCheckTest, NamesBlocksSentOnThatAreNotUrgent) {
    const auto program = [](std::uint32_t urgent) {
        return absolute(2,
                        {{reduce_partly(1, {0, 1, 2}, urgent), send(1, {0, 1, 2})},
                         {send(0, {0, 1, 2}), receive(0, {0, 1, 2})}});
    };
    expect_correct(program(2), CollectiveKind::AllReduce);
    expect_fault(program(1),
                 CollectiveKind::AllReduce,
                 "member 0, step 0: sends on 2 blocks of a message, of which 1 are urgent");
}

}  // namespace
}  // namespace astra
