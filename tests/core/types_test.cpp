#include "astra/core/types.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace astra {
namespace {

TEST(TransferTime, RoundsUpToAPicosecond) {
    // 50 GiB/s: 2441406.25 ps.
    EXPECT_EQ(transfer_time({131072}, {429'496'729'600}).ps, 2'441'407U);
    EXPECT_EQ(transfer_time({1}, {8'000'000'000'000}).ps, 1U);
    EXPECT_EQ(transfer_time({1}, {8'000'000'000'001}).ps, 1U);
    EXPECT_EQ(transfer_time({1}, {7'999'999'999'999}).ps, 2U);
}

TEST(TransferTime, NoLimitAndNoBytesTakeNoTime) {
    EXPECT_EQ(transfer_time({1000}, {0}).ps, 0U);
    EXPECT_EQ(transfer_time({0}, {1}).ps, 0U);
}

TEST(TransferTime, SaturatesInsteadOfWrapping) {
    EXPECT_EQ(transfer_time({kMaxPs}, {1}).ps, kMaxPs);
    EXPECT_EQ(transfer_time({1ULL << 40}, {1}).ps, kMaxPs);
}

TEST(Arithmetic, Saturates) {
    EXPECT_EQ(saturating_add(kMaxPs, 1), kMaxPs);
    EXPECT_EQ(saturating_add(kMaxPs - 1, 1), kMaxPs);
    EXPECT_EQ(saturating_add(1, 2), 3U);
    EXPECT_EQ(saturating_multiply(kMaxPs, 2), kMaxPs);
    EXPECT_EQ(saturating_multiply(kMaxPs, 1), kMaxPs);
    EXPECT_EQ((SimTime{kMaxPs - 1} + Duration{5}).ps, kMaxPs);
    EXPECT_EQ((Duration{kMaxPs} + Duration{kMaxPs}).ps, kMaxPs);
    EXPECT_EQ((3 * Duration{kMaxPs / 2}).ps, kMaxPs);
    EXPECT_EQ((SimTime{7} - SimTime{3}).ps, 4U);
}

TEST(PartOf, PartsAddUpAndDifferByAtMostOne) {
    for (const std::uint64_t size : {0ULL, 1ULL, 7ULL, 8ULL, 1'000'003ULL, ~0ULL}) {
        for (const std::uint64_t parts : {1ULL, 2ULL, 3ULL, 8ULL, 13ULL}) {
            std::uint64_t sum = 0;
            for (std::uint64_t i = 0; i < parts; ++i) {
                const std::uint64_t part = part_of({size}, parts, i).count;
                EXPECT_LE(part - size / parts, 1U);
                sum += part;
            }
            EXPECT_EQ(sum, size) << size << " in " << parts;
        }
    }
}

TEST(CollectiveKind, EveryKindHasItsOwnName) {
    std::set<std::string> names;
    for (std::uint32_t i = 0; i < kCollectiveKinds; ++i) {
        names.insert(name_of(static_cast<CollectiveKind>(i)));
    }
    EXPECT_EQ(names.size(), kCollectiveKinds);
    EXPECT_EQ(names.count("unknown"), 0U);
    EXPECT_STREQ(name_of(CollectiveKind::AllReduce), "all_reduce");
    EXPECT_STREQ(name_of(CollectiveKind::ReduceScatterBlock), "reduce_scatter_block");
}

}  // namespace
}  // namespace astra
