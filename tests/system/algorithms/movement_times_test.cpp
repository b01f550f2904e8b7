// What collectives that only move data take.
#include <vector>

#include <gtest/gtest.h>

#include "tests/system/algorithms/collective_times.h"

namespace astra::times {
namespace {

const std::vector<Row>& movements() {
    static const std::vector<Row> rows = {
        {"ring",
         Kind::AllGather,
         Sizes::Any,
         [](const Costs& t) { return t.d + (t.n - 1) * t.step(t.m()); }},
        {"bidirectionalRing",
         Kind::AllGather,
         Sizes::EvenFromFour,
         [](const Costs& t) { return t.d + (t.n - 1) * t.step(t.m() / 2, 2); }},
        {"multiRing",
         Kind::AllGather,
         Sizes::Any,
         [](const Costs& t) { return t.d + (t.n - 1) * t.step(t.m() / rings(t), rings(t)); }},
        {"direct",
         Kind::AllGather,
         Sizes::Any,
         [](const Costs& t) { return t.d + t.step(t.m(), t.n - 1); }},
        {"halvingDoubling",
         Kind::AllGather,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return t.d + halving(t, t.n, false); }},
        {"recursiveDoubling",
         Kind::AllGather,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return t.d + halving(t, t.n, false); }},
        {"bruck",
         Kind::AllGather,
         Sizes::Any,
         [](const Costs& t) { return t.d + bruck(t, false); }},
        {"pat", Kind::AllGather, Sizes::Any, [](const Costs& t) { return t.d + pat(t, false); }},
        {"pat2",
         Kind::AllGather,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return t.d + pat2(t, false); }},
        {"hierarchical2",
         Kind::AllGather,
         Sizes::EvenFromFour,
         [](const Costs& t) { return t.d + hierarchical2(t, false); }},
        // The block for the member j ahead moves j times.
        {"ring",
         Kind::AllToAll,
         Sizes::Any,
         [](const Costs& t) { return t.d + t.n * (t.n - 1) / 2 * t.step(t.m()); }},
        {"direct",
         Kind::AllToAll,
         Sizes::Any,
         [](const Costs& t) { return t.d + t.step(t.m(), t.n - 1); }},
        {"pairwise",
         Kind::AllToAll,
         Sizes::Any,
         [](const Costs& t) { return t.d + (t.n - 1) * t.step(t.m()); }},
        // In a step the blocks of all j < n that have its bit; L·S/2 for a power of two.
        {"bruck",
         Kind::AllToAll,
         Sizes::Any,
         [](const Costs& t) {
             Time sum = t.d;
             for (std::uint64_t bit = 1; bit < t.n; bit *= 2) {
                 std::uint64_t count = 0;
                 for (std::uint64_t j = 0; j < t.n; ++j) {
                     count += (j & bit) != 0 ? 1 : 0;
                 }
                 sum += t.step(count * t.m());
             }
             return sum;
         }},
        // G = 2: one exchange of S/2, then O-1 of 2m.
        {"hierarchical2",
         Kind::AllToAll,
         Sizes::EvenFromFour,
         [](const Costs& t) {
             return t.d + t.step(kSize / 2) + (t.n / 2 - 1) * t.step(2 * t.m());
         }},
        {"binomial",
         Kind::Broadcast,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return t.d + t.levels() * t.step(kSize); }},
        // A member sends to its children one after the other, so that the position with the most
        // ones in binary (10 of 3, 101 of 6, 1011 of 12) gets it L messages after the root begins,
        // over L-1 edges.
        {"binomial",
         Kind::Broadcast,
         Sizes::ThreeHalves,
         [](const Costs& t) {
             return t.d + (t.levels() - 1) * t.step(kSize) +
                    (t.network.aware() ? Costs::wire(kSize) : 0);
         }},
        {"flat",
         Kind::Broadcast,
         Sizes::Any,
         [](const Costs& t) { return t.d + t.step(kSize, t.n - 1); }},
        {"chain8",
         Kind::Broadcast,
         Sizes::Any,
         [](const Costs& t) {
             return t.d + (t.n - 1) * t.step(kSize / 8) + behind(t, 8, kSize / 8);
         }},
        // The longest path of a binomial tree carries S/2, S/4, … m.
        {"binomial",
         Kind::Gather,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return t.d + halving(t, t.n, false); }},
        {"binomial",
         Kind::Scatter,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return t.d + halving(t, t.n, false); }},
        {"flat",
         Kind::Gather,
         Sizes::Any,
         [](const Costs& t) { return t.d + t.step(t.m(), t.n - 1); }},
        {"flat",
         Kind::Scatter,
         Sizes::Any,
         [](const Costs& t) { return t.d + t.step(t.m(), t.n - 1); }},
        // The farthest block passes n-1 links, and the others follow it or go before it.
        {"chain",
         Kind::Gather,
         Sizes::Any,
         [](const Costs& t) { return t.d + (t.n - 1) * t.step(t.m()); }},
        {"chain",
         Kind::Scatter,
         Sizes::Any,
         [](const Costs& t) { return t.d + (t.n - 1) * t.step(t.m()); }},
        {"dissemination",
         Kind::Barrier,
         Sizes::Any,
         [](const Costs& t) { return t.d + t.levels() * t.step(0); }},
    };
    return rows;
}

class MovementTimesTest : public testing::TestWithParam<Row> {};

TEST_P(MovementTimesTest, IsTheClosedForm) {
    expect_closed_form(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Rows, MovementTimesTest, testing::ValuesIn(movements()), name_of_row);

}  // namespace
}  // namespace astra::times
