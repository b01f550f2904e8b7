// What hierarchical collectives take, level by level (collective_times.h).
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/system/algorithms/collective_times.h"

namespace astra::times {
namespace {

// Levels of two inside: S/2, then S/4, there or back.
Time inside(const Costs& t, bool reduces) {
    return t.step(kSize / 2) + t.step(kSize / 4) +
           (reduces ? Costs::r(kSize / 2) + Costs::r(kSize / 4) : 0);
}

// What the levels inside have left, S/4: its halves, quarters … over n/4 members. In a
// reduce_scatter half of what comes is reduced while the next message is in flight.
Time halvings(const Costs& t, bool reduces) {
    Time sum = 0;
    for (std::uint64_t parts = 2; parts <= t.n / 4; parts *= 2) {
        const std::uint64_t bytes = kSize / 4 / parts;
        sum += t.step(bytes) + (reduces ? Costs::r(parts == t.n / 4 ? bytes : bytes / 2) : 0);
    }
    return sum;
}

TEST(HierarchicalTimesTest, ThreeLevels) {
    const char* name = "hierarchical2x2:direct-ring-halvingDoubling";
    expect_closed_form({name, Kind::ReduceScatter, Sizes::FromEight, [](const Costs& t) {
                            return t.d + inside(t, true) + halvings(t, true);
                        }});
    expect_closed_form({name, Kind::AllGather, Sizes::FromEight, [](const Costs& t) {
                            return t.d + halvings(t, false) + inside(t, false);
                        }});
    expect_closed_form({name, Kind::AllReduce, Sizes::FromEight, [](const Costs& t) {
                            return t.d + inside(t, true) + halvings(t, true) + halvings(t, false) +
                                   inside(t, false);
                        }});
}

// The last level alone runs an all_reduce: recursive doubling of S/4, all of it in each exchange.
TEST(HierarchicalTimesTest, AnotherAllReduceAtTheLastLevel) {
    expect_closed_form({"hierarchical2x2:ring-direct-recursiveDoubling",
                        Kind::AllReduce,
                        Sizes::FromEight,
                        [](const Costs& t) {
                            Time sum = t.d + inside(t, true) + inside(t, false);
                            for (std::uint64_t members = 2; members <= t.n / 4; members *= 2) {
                                sum += t.step(kSize / 4) + Costs::r(kSize / 4);
                            }
                            return sum;
                        }});
}

// A fold is a program that differs from member to member: n = 6 and 12 have 3 and 6 groups of two.
// Partners that do not fold have sent their half before, so that a member that folds has all of it
// one exchange before them, and hands it back when its message of the last exchange has left.
TEST(HierarchicalTimesTest, AFoldAtTheLastLevel) {
    expect_closed_form({"hierarchical2:ring-recursiveDoubling",
                        Kind::AllReduce,
                        Sizes::EvenFromFour,
                        [](const Costs& t) {
                            const Costs across{t.network, t.n / 2};
                            const Time exchange = t.step(kSize / 2) + Costs::r(kSize / 2);
                            Time sum = t.d + exchange + t.step(kSize / 2);
                            for (std::uint64_t k = 2; k <= power_below(across); k *= 2) {
                                sum += exchange;
                            }
                            if (across.n == power_below(across)) {
                                return sum;
                            }
                            return sum + exchange + in_turn(t, kSize / 2);
                        },
                        true});
}

// Two members exchange S/2 at either level inside; across, n/4 - 1 exchanges of a part of S.
TEST(HierarchicalTimesTest, AllToAllOverThreeLevels) {
    expect_closed_form({"hierarchical2x2", Kind::AllToAll, Sizes::FromEight, [](const Costs& t) {
                            return t.d + 2 * t.step(kSize / 2) +
                                   (t.n / 4 - 1) * t.step(kSize / (t.n / 4));
                        }});
}

}  // namespace
}  // namespace astra::times
