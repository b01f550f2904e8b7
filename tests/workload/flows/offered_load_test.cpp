// What background traffic asks of the links on average.
#include "workload/flows/offered_load.h"

#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network/test_network.h"

namespace astra {
namespace {

constexpr Bandwidth kGbps{1'000'000'000};

std::optional<Overload> overload(const std::vector<Shape>& shapes,
                                 RoutePolicy policy = RoutePolicy::DimensionOrder,
                                 const std::vector<std::uint32_t>& next_rank = {}) {
    const Topology topology = build(shapes);
    Routing routing(topology, policy, 1);
    return plain_overload(kGbps, next_rank, routing);
}

// On a ring of five a link lies on the paths of one pair at distance 1 and of two at distance 2,
// each of which has a quarter of the rate: 750 Mbit/s, though a rank has two links out.
TEST(OfferedLoad, IsTheSumOverThePairsOfALink) {
    const auto over = overload({{"ring", 5, {749'999'999}, 0}});
    ASSERT_TRUE(over);
    EXPECT_EQ(over->where, "the link 0 -> 1");
    EXPECT_EQ(over->offered.bits_per_s, 750'000'000U);
    EXPECT_EQ(over->carried.bits_per_s, 749'999'999U);
    EXPECT_FALSE(overload({{"ring", 5, {750'000'000}, 0}}));
    EXPECT_EQ(to_text({"the link 0 -> 1", {6'000'000'000}, {2'000'000'000}}),
              "the link 0 -> 1 would have to carry 6 Gbps, 3 times as much as possible");
}

// Across a permutation that turns a ring of five by two every link has two pairs.
TEST(OfferedLoad, OfAPermutationIsThatOfItsPairs) {
    const std::vector<std::uint32_t> by_two = {2, 3, 4, 0, 1};
    const auto over =
        overload({{"ring", 5, {1'999'999'999}, 0}}, RoutePolicy::DimensionOrder, by_two);
    ASSERT_TRUE(over);
    EXPECT_EQ(over->offered.bits_per_s, 2'000'000'000U);
    EXPECT_FALSE(overload({{"ring", 5, {2'000'000'000}, 0}}, RoutePolicy::DimensionOrder, by_two));
}

// Where a pair has several paths only the links of a rank together are sure: it has two.
TEST(OfferedLoad, OfManyPathsIsThatOfTheRanks) {
    for (const RoutePolicy policy : {RoutePolicy::Spray, RoutePolicy::Adaptive}) {
        const auto over = overload({{"ring", 5, {499'999'999}, 0}}, policy);
        ASSERT_TRUE(over);
        EXPECT_EQ(over->where, "the links out of 0");
        EXPECT_EQ(over->offered, kGbps);
        EXPECT_EQ(over->carried.bits_per_s, 999'999'998U);
        EXPECT_FALSE(overload({{"ring", 5, {500'000'000}, 0}}, policy));
    }
    const auto into = overload({{"switch", 4, {999'999'999}, 0}}, RoutePolicy::Spray);
    ASSERT_TRUE(into);
    EXPECT_EQ(into->where, "the links out of 0");
}

// 4000 ranks have 16 million pairs: the ranks' own links are still looked at.
TEST(OfferedLoad, OfManyPairsIsThatOfTheRanks) {
    EXPECT_FALSE(overload({{"ring", 4000, {500'000'000}, 0}}));
    EXPECT_TRUE(overload({{"ring", 4000, {499'999'999}, 0}}));
}

}  // namespace
}  // namespace astra
