#include "system/run/step_costs.h"

#include <gtest/gtest.h>

namespace astra::test {
namespace {

// 1 B a ns: an access of 100 B takes 100'000 ps, a reduction of them 300'000.
constexpr Bandwidth kMemory{8'000'000'000};
constexpr Duration kDelay{10};

class StepCostsTest : public testing::Test {
  protected:
    StepCosts costs(const MessageCosts& messages, bool in_turn = false) {
        StepCosts costs;
        costs.begin(messages, kDelay, memory_, in_turn);
        return costs;
    }
    TransferClock memory_{kMemory};
};

TEST_F(StepCostsTest, BeginsAfterDelayAndStartup) {
    MessageCosts messages;
    messages.startup = {7};
    EXPECT_EQ(costs(messages).first_step({100}).ps, 117U);
}

// Two messages of 100 B that are there at 5 ps: the second is handed over behind the first.
TEST_F(StepCostsTest, HandsOverOneAfterTheOther) {
    MessageCosts messages;
    messages.latency = {3};
    StepCosts at_once = costs(messages);
    messages.copying = kMemory;
    StepCosts copying = costs(messages);
    std::uint64_t busy_ps = 0;
    EXPECT_EQ(copying.leaves({5}, {100}, &busy_ps).ps, 5U + 100'000U + 3U);
    EXPECT_EQ(copying.leaves({5}, {100}, &busy_ps).ps, 5U + 200'000U + 3U);
    EXPECT_FALSE(at_once.copies());
    EXPECT_EQ(at_once.leaves({5}, {100}, nullptr).ps, 8U);
}

// A message costs its delay; a clock does not go back.
TEST_F(StepCostsTest, TakesAMessage) {
    StepClock clock{500, 0};
    costs({}).take(clock, 100);
    EXPECT_EQ(clock.now_ps, 500U);
    costs({}).take(clock, 600);
    EXPECT_EQ(clock.now_ps, 610U);
}

// Messages that come at 0 and 50 ps, 100 B each: by themselves they are reduced beside each other,
// in turn the second one begins when the first is done.
TEST_F(StepCostsTest, ReducesBesideOrInTurn) {
    StepClock beside;
    StepCosts free = costs({});
    free.reduce(beside, 0, {100}, {1, 1});
    free.reduce(beside, 50, {100}, {1, 1});
    EXPECT_EQ(beside.end_ps(), 50U + 10U + 300'000U);
    StepClock after;
    StepCosts in_turn = costs({}, true);
    in_turn.reduce(after, 0, {100}, {1, 1});
    in_turn.reduce(after, 50, {100}, {1, 1});
    EXPECT_EQ(after.end_ps(), 10U + 600'000U);
}

// A quarter of 100 B holds up the next step; what the rest takes holds up the next reduction, and
// the end.
TEST_F(StepCostsTest, LeavesTheRestForMeanwhile) {
    StepCosts all = costs({});
    StepClock clock;
    all.reduce(clock, 0, {100}, {1, 4});
    EXPECT_EQ(clock.now_ps, 10U + 75'000U);
    EXPECT_EQ(clock.end_ps(), 10U + 300'000U);
    all.reduce(clock, 0, {100}, {1, 1});
    EXPECT_EQ(clock.now_ps, 10U + 600'000U);
}

// Switches have reduced: taking is all that is left. Work on local memory without reducing is a
// read and a write.
TEST_F(StepCostsTest, CostsNothingIfReducedOnTheWay) {
    MessageCosts messages;
    messages.reduces = false;
    StepCosts reduced = costs(messages);
    StepClock clock;
    reduced.reduce(clock, 0, {100}, {1, 1});
    EXPECT_EQ(clock.end_ps(), 10U);
    reduced.work(clock, {100}, false, {5});
    EXPECT_EQ(clock.end_ps(), 10U + 200'000U + 5U);
}

}  // namespace
}  // namespace astra::test
