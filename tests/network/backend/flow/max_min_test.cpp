// Rates and completion times that can be worked out by hand. Rates are whole bits a second, rounded
// down; times are picoseconds, rounded up.
#include "network/backend/flow/max_min.h"

#include <array>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "astra/core/check.h"
#include "tests/network/backend/flow/max_min_mirror.h"

namespace astra {
namespace {

constexpr std::uint64_t kSecondPs = 1'000'000'000'000;
constexpr MaxMin::Work bits(std::uint64_t count) {
    return static_cast<MaxMin::Work>(count) * MaxMin::kWorkABit;
}

// A mirror whose flows are far from done, to look at rates.
class Rates : public MaxMinMirror {
  public:
    std::uint64_t flow(const std::vector<Part>& parts) { return add_flow(parts, bits(1ULL << 60)); }
    void settle() {
        solve();
        check();
    }
};

// 10^9 over 3 = 333,333,333 and one third.
TEST(MaxMinTest, OneLinkIsSharedEqually) {
    Rates link;
    link.add_constraint(1'000'000'000);
    for (int k = 0; k < 3; ++k) {
        link.flow({{0}});
    }
    link.settle();
    for (std::uint64_t flow = 0; flow < 3; ++flow) {
        EXPECT_EQ(link.rate(flow), 333'333'333U);
    }
    EXPECT_EQ(link.solver().load(MaxMin::ConstraintId{0}), 999'999'999);
}

// The long flow and the short one of each link: C/2 each, however many links.
TEST(MaxMinTest, ParkingLot) {
    Rates lot;
    std::vector<MaxMinMirror::Part> all;
    for (std::size_t k = 0; k < 5; ++k) {
        all.push_back({lot.add_constraint(1000)});
    }
    const std::uint64_t through = lot.flow(all);
    std::vector<std::uint64_t> one_link;
    for (std::size_t k = 0; k < 5; ++k) {
        one_link.push_back(lot.flow({{k}}));
    }
    lot.settle();
    EXPECT_EQ(lot.rate(through), 500U);
    for (const std::uint64_t flow : one_link) {
        EXPECT_EQ(lot.rate(flow), 500U);
    }
    // Without the long one, each has its link.
    lot.remove_flow(through);
    lot.settle();
    for (const std::uint64_t flow : one_link) {
        EXPECT_EQ(lot.rate(flow), 1000U);
    }
}

// Link 0 of 10 has flows a, b, c; link 1 of 20 has c, d. Link 0 is full at floor(10/3) = 3; link 1
// leaves 20 - 3 = 17 to d.
TEST(MaxMinTest, TwoLinks) {
    Rates links;
    links.add_constraint(10);
    links.add_constraint(20);
    const std::uint64_t a = links.flow({{0}});
    const std::uint64_t b = links.flow({{0}});
    const std::uint64_t c = links.flow({{0}, {1}});
    const std::uint64_t d = links.flow({{1}});
    links.settle();
    EXPECT_EQ(links.rate(a), 3U);
    EXPECT_EQ(links.rate(b), 3U);
    EXPECT_EQ(links.rate(c), 3U);
    EXPECT_EQ(links.rate(d), 17U);
    EXPECT_EQ(links.solver().bottleneck(links.id(c)), MaxMin::ConstraintId{0});
    EXPECT_EQ(links.solver().bottleneck(links.id(d)), MaxMin::ConstraintId{1});
    EXPECT_EQ(links.solver().level(MaxMin::ConstraintId{1}).bits_per_s, 17U);
    // Link 0 to 100: link 1 is full first, at 10; a and b get (100 - 10) / 2 = 45.
    links.set_capacity(0, 100);
    links.settle();
    EXPECT_EQ(links.rate(a), 45U);
    EXPECT_EQ(links.rate(c), 10U);
    EXPECT_EQ(links.rate(d), 10U);
    // Down again, to a level below both: 2, and 20 - 2.
    links.set_capacity(0, 6);
    links.settle();
    EXPECT_EQ(links.rate(a), 2U);
    EXPECT_EQ(links.rate(d), 18U);
}

// Links of 10 and 11 with three and four flows, three of them on both: floor(10/3) = 3 and
// floor(11/4) = 2, so that the second is full at 2 and the first leaves what it cannot share.
// With 8 the first is full at 2 too (8/3 = 2.67 < 11/4 = 2.75): both are full at once, and the
// fourth flow does not take what rounding left on the second (11 - 3·2 = 5).
TEST(MaxMinTest, EqualLevelsGiveEqualRates) {
    for (const std::uint64_t first : {10U, 8U}) {
        Rates links;
        links.add_constraint(first);
        links.add_constraint(11);
        for (int k = 0; k < 3; ++k) {
            links.flow({{0}, {1}});
        }
        const std::uint64_t fourth = links.flow({{1}});
        links.settle();
        EXPECT_EQ(links.rate(fourth), 2U);
        EXPECT_EQ(links.rate(0), 2U);
    }
}

// Two flows on 100, one of them capped at 30: 30 and 70. At 60 the cap does not matter: 50 each.
TEST(MaxMinTest, CapsLimitWithoutSharing) {
    Rates link;
    link.add_constraint(100);
    const std::size_t cap = link.add_constraint(30, true);
    const std::uint64_t capped = link.flow({{0}, {cap}});
    const std::uint64_t open = link.flow({{0}});
    link.settle();
    EXPECT_EQ(link.rate(capped), 30U);
    EXPECT_EQ(link.rate(open), 70U);
    EXPECT_EQ(link.solver().bottleneck(link.id(capped)), MaxMin::ConstraintId{1});
    link.set_capacity(cap, 60);
    link.settle();
    EXPECT_EQ(link.rate(capped), 50U);
    EXPECT_EQ(link.rate(open), 50U);
    // Two more under the cap alone share nothing: 60 each.
    const std::uint64_t alone = link.flow({{cap}});
    const std::uint64_t second = link.flow({{cap}});
    link.settle();
    EXPECT_EQ(link.rate(alone), 60U);
    EXPECT_EQ(link.rate(second), 60U);
}

// A flow sprayed half and half over two links of 100, alone: 200. With another on the first link,
// r/2 + r = 100: 66; the link is loaded with 33 + 66, the other with 33.
TEST(MaxMinTest, WeightsAreShares) {
    Rates links;
    links.add_constraint(100);
    links.add_constraint(100);
    const std::uint64_t sprayed = links.flow({{0, 8}, {1, 8}});
    links.settle();
    EXPECT_EQ(links.rate(sprayed), 200U);
    const std::uint64_t other = links.flow({{0}});
    links.settle();
    EXPECT_EQ(links.rate(sprayed), 66U);
    EXPECT_EQ(links.rate(other), 66U);
    EXPECT_EQ(links.solver().load(MaxMin::ConstraintId{0}), 99);
    EXPECT_EQ(links.solver().load(MaxMin::ConstraintId{1}), 33);
}

// Thirds are no binary fractions: within a bit/s. Three links of 400 Gb/s, each with a third of
// one flow: 1.2 Tb/s. Rounding a weight to 2^-32 costs at most 3·2^-33 of the rate, 419 bit/s.
TEST(MaxMinTest, WeightsThatRound) {
    MaxMin solver;
    std::vector<MaxMin::Use> uses;
    for (int k = 0; k < 3; ++k) {
        uses.push_back({solver.add_constraint({400'000'000'000}), 1.0 / 3});
    }
    const MaxMin::FlowId flow = solver.add_flow(uses, bits(1), 0);
    solver.solve({0});
    EXPECT_NEAR(static_cast<double>(solver.rate(flow).bits_per_s), 1.2e12, 420);
    EXPECT_LE(solver.load(uses[0].constraint), 400e9);
}

// More flows than bits: 1 bit/s each, over the capacity.
TEST(MaxMinTest, NoRateIsZero) {
    Rates link;
    link.add_constraint(2);
    for (int k = 0; k < 5; ++k) {
        link.flow({{0}});
    }
    link.settle();
    EXPECT_EQ(link.rate(4), 1U);
}

// 100 bit/s; 100, 200 and 400 bit. All at 33: the first is done after 100/33 s. Left are 100 and
// 300 bit, less what the rounding up of the time has served; at 50 each the second takes 100/50 = 2
// s more. The third has 200 left, at 100: 2 s.
TEST(MaxMinTest, ThreeSizesOnALink) {
    MaxMin solver;
    const std::array<MaxMin::Use, 1> link = {{{solver.add_constraint({100})}}};
    for (const std::uint64_t size : {400U, 100U, 200U}) {
        solver.add_flow(link, bits(size), size);
    }
    solver.solve({0});
    // ceil(100·10^12 / 33) = 3,030,303,030,304: 33 of it serve 10^14 + 32.
    std::uint64_t at_ps = 3'030'303'030'304;
    EXPECT_EQ(solver.next_completion().ps, at_ps);
    EXPECT_TRUE(solver.pop_completed({at_ps - 1}).empty());
    ASSERT_EQ(solver.pop_completed({at_ps}).size(), 1U);
    solver.solve({at_ps});
    EXPECT_TRUE(solver.remaining(MaxMin::FlowId{2}, {at_ps}) == bits(100) - 32);
    EXPECT_TRUE(solver.remaining(MaxMin::FlowId{0}, {at_ps}) == bits(300) - 32);
    // ceil((10^14 - 32) / 50) = 2·10^12, which serve 10^14 to either.
    at_ps += 2 * kSecondPs;
    EXPECT_EQ(solver.next_completion().ps, at_ps);
    EXPECT_EQ(solver.pop_completed({at_ps}).front().tag, 200U);
    solver.solve({at_ps});
    EXPECT_TRUE(solver.remaining(MaxMin::FlowId{0}, {at_ps}) == bits(200) - 32);
    // ceil((2·10^14 - 32) / 100) = 2·10^12.
    at_ps += 2 * kSecondPs;
    EXPECT_EQ(solver.next_completion().ps, at_ps);
    EXPECT_EQ(solver.pop_completed({at_ps}).front().tag, 400U);
    EXPECT_EQ(solver.flows(), 0U);
    solver.solve({at_ps});
    EXPECT_EQ(solver.next_completion().ps, kMaxPs);
}

// 2^56 bytes at 400 Gb/s: 2^59 bit · 10^12 / (4·10^11) = 2^58 · 5 ps, which fits; at 1 bit/s,
// 2^59 · 10^12 ps do not.
TEST(MaxMinTest, HugeSizes) {
    MaxMin solver;
    const std::array<MaxMin::Use, 1> fast = {{{solver.add_constraint({400'000'000'000})}}};
    const std::array<MaxMin::Use, 1> slow = {{{solver.add_constraint({1})}}};
    solver.add_flow(slow, MaxMin::work_of({1ULL << 56}), 0);
    solver.solve({0});
    EXPECT_EQ(solver.next_completion().ps, kMaxPs);
    solver.add_flow(fast, MaxMin::work_of({1ULL << 56}), 1);
    solver.solve({1000});
    EXPECT_EQ(solver.next_completion().ps, (1ULL << 58) * 5 + 1000);
}

// 10 bit at 10 bit/s and 20 at 20: both after a second, on links of their own. They come in the
// order of adding, which is not that of the links. A flow of nothing is complete where it starts.
TEST(MaxMinTest, CompletionsAtOneTimeKeepTheOrder) {
    MaxMin solver;
    const std::array<MaxMin::Use, 1> fast = {{{solver.add_constraint({20})}}};
    const std::array<MaxMin::Use, 1> slow = {{{solver.add_constraint({10})}}};
    solver.add_flow(fast, bits(0), 0);
    solver.solve({5});
    EXPECT_EQ(solver.next_completion().ps, 5U);
    EXPECT_EQ(solver.pop_completed({5}).size(), 1U);
    solver.add_flow(slow, bits(10), 1);
    solver.add_flow(fast, bits(20), 2);
    solver.solve({5});
    const auto done = solver.pop_completed({5 + kSecondPs});
    ASSERT_EQ(done.size(), 2U);
    EXPECT_EQ(done[0].tag, 1U);
    EXPECT_EQ(done[1].tag, 2U);
}

TEST(MaxMinTest, AFlowThatIsMovedKeepsWhatItHasLeft) {
    MaxMin solver;
    const std::array<MaxMin::Use, 1> first = {{{solver.add_constraint({10})}}};
    const std::array<MaxMin::Use, 1> second = {{{solver.add_constraint({40})}}};
    const MaxMin::FlowId flow = solver.add_flow(first, bits(50), 0);
    solver.solve({0});
    // 50 - 3·10 = 20 left; at 40 that is half a second.
    const MaxMin::Work left = solver.remaining(flow, {3 * kSecondPs});
    EXPECT_TRUE(left == bits(20));
    solver.remove_flow(flow);
    solver.add_flow(second, left, 0);
    solver.solve({3 * kSecondPs});
    EXPECT_EQ(solver.next_completion().ps, 3 * kSecondPs + kSecondPs / 2);
}

// 1000 pairs of links. Whatever happens on one, a solve looks at its flows only: the one that is
// left is freed and fixed.
TEST(MaxMinTest, OtherComponentsAreNotVisited) {
    MaxMin solver;
    std::vector<std::array<MaxMin::Use, 2>> pairs;
    for (std::uint64_t k = 0; k < 1000; ++k) {
        pairs.push_back({{{solver.add_constraint({100})}, {solver.add_constraint({100})}}});
        solver.add_flow(pairs.back(), bits(1000 + k), k);
        solver.add_flow(pairs.back(), bits(5000 + k), k);
    }
    solver.solve({0});
    const std::uint64_t before = solver.visited_flows();
    ASSERT_EQ(solver.pop_completed(solver.next_completion()).size(), 1U);
    solver.solve({20 * kSecondPs});
    EXPECT_EQ(solver.visited_flows() - before, 2U);
}

TEST(MaxMinTest, IdsAreUsedAgain) {
    MaxMin solver;
    const std::array<MaxMin::Use, 1> link = {{{solver.add_constraint({100})}}};
    const MaxMin::FlowId kept = solver.add_flow(link, bits(1), 0);
    for (int k = 0; k < 1000; ++k) {
        const MaxMin::FlowId flow = solver.add_flow(link, bits(1), 0);
        EXPECT_EQ(static_cast<std::uint32_t>(flow), 1U);
        if (k % 2 == 0) {
            solver.solve({0});
        }
        solver.remove_flow(flow);
    }
    solver.solve({0});
    EXPECT_EQ(solver.flows(), 1U);
    EXPECT_EQ(solver.rate(kept).bits_per_s, 100U);
}

TEST(MaxMinTest, MisuseIsRefused) {
    MaxMin solver;
    const MaxMin::ConstraintId link = solver.add_constraint({100});
    const std::array<MaxMin::Use, 2> twice = {{{link}, {link}}};
    const std::array<MaxMin::Use, 1> heavy = {{{link, 2 * MaxMin::kMostWeight}}};
    const std::array<MaxMin::Use, 1> unknown = {{{MaxMin::ConstraintId{7}}}};
    EXPECT_THROW(solver.add_flow({}, bits(1), 0), std::exception);
    EXPECT_THROW(solver.add_flow(twice, bits(1), 0), std::exception);
    EXPECT_THROW(solver.add_flow(heavy, bits(1), 0), std::exception);
    EXPECT_THROW(solver.add_flow(unknown, bits(1), 0), std::exception);
    EXPECT_THROW(solver.add_constraint({0}), std::exception);
    EXPECT_EQ(solver.flows(), 0U);
    solver.solve({0});
    EXPECT_EQ(solver.next_completion().ps, kMaxPs);
}

}  // namespace
}  // namespace astra
