// What collectives that reduce take.
#include <vector>

#include <gtest/gtest.h>

#include "tests/system/algorithms/collective_times.h"

namespace astra::times {
namespace {

const std::vector<Row>& reductions() {
    static const std::vector<Row> rows = {
        {"ring",
         Kind::AllReduce,
         Sizes::Any,
         [](const Costs& t) { return rings_side_by_side(t, 1); }},
        {"ring",
         Kind::ReduceScatter,
         Sizes::Any,
         [](const Costs& t) { return reducing_rings(t, 1); }},
        {"ring",
         Kind::ReduceScatterBlock,
         Sizes::Any,
         [](const Costs& t) { return reducing_rings(t, 1); }},
        // n = 2: both rings are over the same link.
        {"bidirectionalRing",
         Kind::AllReduce,
         Sizes::EvenFromFour,
         [](const Costs& t) { return rings_side_by_side(t, 2); }},
        {"bidirectionalRing",
         Kind::ReduceScatter,
         Sizes::EvenFromFour,
         [](const Costs& t) { return reducing_rings(t, 2); }},
        {"multiRing",
         Kind::ReduceScatter,
         Sizes::Any,
         [](const Costs& t) { return reducing_rings(t, rings(t)); }},
        {"multiRing1",
         Kind::AllReduce,
         Sizes::Any,
         [](const Costs& t) { return rings_side_by_side(t, 1); }},
        {"multiRing",
         Kind::AllReduce,
         Sizes::Any,
         [](const Costs& t) { return rings_side_by_side(t, rings(t)); }},
        {"direct",
         Kind::AllReduce,
         Sizes::Any,
         [](const Costs& t) { return t.d + 2 * t.step(t.m(), t.n - 1) + Costs::r(t.m()); }},
        {"direct",
         Kind::ReduceScatter,
         Sizes::Any,
         [](const Costs& t) { return t.d + t.step(t.m(), t.n - 1) + Costs::r(t.m()); }},
        {"halvingDoubling",
         Kind::AllReduce,
         Sizes::Any,
         [](const Costs& t) {
             return t.d + folding(t) + halving(t, power_below(t), true) +
                    halving(t, power_below(t), false);
         }},
        {"halvingDoubling",
         Kind::ReduceScatter,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return t.d + halving(t, t.n, true); }},
        {"recursiveDoubling",
         Kind::AllReduce,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return t.d + t.levels() * (t.step(kSize) + Costs::r(kSize)); }},
        // Folding, with 2^L + 2^(L-1) members: every second one of those that go on starts a step
        // later. In the last of L exchanges it finds the message of its partner, which was early,
        // and only has to reduce it; the last step, back to the folded ones, waits until its own
        // message of that exchange has left.
        {"recursiveDoubling",
         Kind::AllReduce,
         Sizes::ThreeHalves,
         [](const Costs& t) {
             return t.d + t.levels() * (t.step(kSize) + Costs::r(kSize)) + in_turn(t, kSize);
         },
         true},
        {"recursiveDoubling",
         Kind::ReduceScatter,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return t.d + halving(t, t.n, true); }},
        {"bruck",
         Kind::AllReduce,
         Sizes::Any,
         [](const Costs& t) { return t.d + bruck(t, true) + bruck(t, false); }},
        {"bruck",
         Kind::ReduceScatter,
         Sizes::Any,
         [](const Costs& t) { return t.d + bruck(t, true); }},
        {"pat",
         Kind::AllReduce,
         Sizes::Any,
         [](const Costs& t) { return t.d + pat(t, true) + pat(t, false); }},
        {"pat", Kind::ReduceScatter, Sizes::Any, [](const Costs& t) { return t.d + pat(t, true); }},
        {"pat2",
         Kind::ReduceScatter,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return t.d + pat2(t, true); }},
        {"hierarchical2",
         Kind::AllReduce,
         Sizes::EvenFromFour,
         [](const Costs& t) { return t.d + hierarchical2(t, true) + hierarchical2(t, false); }},
        {"hierarchical2",
         Kind::ReduceScatter,
         Sizes::EvenFromFour,
         [](const Costs& t) { return t.d + hierarchical2(t, true); }},
        {"doubleBinaryTree",
         Kind::AllReduce,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return up_and_down(t, kSize); },
         true},
        // One slice a tree. Its height is L as well.
        {"ncclTree1",
         Kind::AllReduce,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return up_and_down(t, kSize / 2); },
         true},
        {"binomial",
         Kind::AllReduce,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return up_and_down(t, kSize); }},
        {"binomial",
         Kind::Reduce,
         Sizes::PowersOfTwo,
         [](const Costs& t) { return t.d + t.levels() * (t.step(kSize) + Costs::r(kSize)); }},
        {"binomial",
         Kind::Reduce,
         Sizes::ThreeHalves,
         [](const Costs& t) { return t.d + (t.levels() - 1) * (t.step(kSize) + Costs::r(kSize)); },
         true},
        // All come to the root over its one link of a switch.
        {"flat",
         Kind::Reduce,
         Sizes::Any,
         [](const Costs& t) { return t.d + t.step(kSize, t.n - 1) + Costs::r(kSize); }},
        {"chain8",
         Kind::Reduce,
         Sizes::Any,
         [](const Costs& t) {
             return t.d + (t.n - 1) * (t.step(kSize / 8) + Costs::r(kSize / 8)) +
                    behind(t, 8, kSize / 8);
         }},
    };
    return rows;
}

class ReductionTimesTest : public testing::TestWithParam<Row> {};

TEST_P(ReductionTimesTest, IsTheClosedForm) {
    expect_closed_form(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Rows, ReductionTimesTest, testing::ValuesIn(reductions()), name_of_row);

}  // namespace
}  // namespace astra::times
