// Collectives over several dimensions, in every order of them.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "system/plan/dimension_order.h"
#include "tests/support/experiment.h"

namespace astra {
namespace {

RunResult on_torus(const std::vector<std::uint32_t>& sizes, const std::string& order) {
    std::string dimensions;
    for (const std::uint32_t size : sizes) {
        dimensions += fmt::format(
            "    - {{topology: ring, ranks: {}, bandwidth: 50GB/s, latency: 500ns}}\n", size);
    }
    return test::run_study(
        fmt::format("workload: {{generate: {{kind: collective, bytes: 1GiB}}}}\n"
                    "system:\n"
                    "  chunks: {0}\n"
                    "  dimension_order: {1}\n"
                    "  collectives: {{all_reduce: bidirectionalRing}}\n"
                    "network:\n"
                    "  backend: congestion_aware\n"
                    "  dimensions:\n{2}",
                    sizes.size(),
                    order,
                    dimensions));
}

// A rank of a torus of D dimensions has 2D links and sends 2(N-1)/N · S (Patarasuk, Yuan 2009). One
// chunk a dimension: at any time each of them is in another dimension and uses both directions
// there, so every link of the torus carries 2(N-1)/N · S / 2D.
void expect_all_links_busy(const std::vector<std::uint32_t>& sizes) {
    const RunResult result = on_torus(sizes, "rotated");
    double ranks = 1;
    for (const std::uint32_t size : sizes) {
        ranks *= size;
    }
    const double links_a_rank = 2 * static_cast<double>(sizes.size());
    const double bytes_a_link = 2 * (ranks - 1) / ranks * (1U << 30U) / links_a_rank;
    const double bound_ps = bytes_a_link / 50e9 * 1e12;
    const auto time_ps = static_cast<double>(result.simulated.ps);
    EXPECT_GE(time_ps, bound_ps);
    EXPECT_LE(time_ps, 1.02 * bound_ps);
    EXPECT_EQ(result.links.size(), static_cast<std::size_t>(ranks * links_a_rank));
    for (const LinkRecord& link : result.links) {
        // Chunks, blocks and halves of them are whole bytes.
        ASSERT_NEAR(static_cast<double>(link.bytes.count), bytes_a_link, 1000);
    }
    for (const DimensionRecord& dimension : result.dimensions) {
        EXPECT_GE(static_cast<double>(dimension.mean_busy.ps), 0.98 * time_ps);
    }
    // One dimension at a time takes longer: in the first, a rank sends 2(n-1)/n · S through two
    // links, while the others wait.
    const double first = sizes.front();
    const double alone_ps = 2 * (first - 1) / first * (1U << 30U) / 2 / 50e9 * 1e12;
    EXPECT_GE(static_cast<double>(on_torus(sizes, "ascending").simulated.ps), alone_ps);
    EXPECT_GT(alone_ps, 1.5 * bound_ps);
}

TEST(DimensionOrdersTest, AllLinksOfATorusWork) {
    expect_all_links_busy({8, 8});
    expect_all_links_busy({4, 4, 4});
}

// 64 ranks, S bytes in four chunks: N ranks send (N-1)/N · S each in a reduce_scatter and in an
// all_gather, whatever the order, and both of them in an all_reduce. An all_to_all moves (n-1)/n ·
// S in each dimension.
TEST(DimensionOrdersTest, BytesAreTheSameInEveryOrder) {
    constexpr std::uint64_t kRanks = 4 * 2 * 8;
    constexpr std::uint64_t kBytes = 3U << 20U;
    const auto sent = [&](std::string_view order, const char* kind, std::uint64_t bytes) {
        return test::run_study(
                   fmt::format(
                       "workload: {{generate: {{kind: collective, collective: {0}, bytes: "
                       "{1}B}}}}\n"
                       "system:\n"
                       "  chunks: 4\n"
                       "  active_chunks: 2\n"
                       "  dimension_order: {2}\n"
                       "  collectives:\n"
                       "    all_reduce: {3}\n"
                       "    reduce_scatter: {3}\n"
                       "    all_gather: {3}\n"
                       "    all_to_all: direct\n"
                       "network:\n"
                       "  backend: congestion_aware\n"
                       "  dimensions:\n"
                       "    - {{topology: ring, ranks: 4, bandwidth: 50GB/s, latency: 500ns}}\n"
                       "    - {{topology: switch, ranks: 2, bandwidth: 25GB/s, latency: 500ns}}\n"
                       "    - {{topology: switch, ranks: 8, bandwidth: 100GB/s, latency: 500ns}}\n",
                       kind,
                       bytes,
                       order,
                       "[ring, direct, halvingDoubling]"))
            .counts.message_bytes;
    };
    for (const DimensionOrder* order : dimension_orders()) {
        SCOPED_TRACE(order->name);
        const std::uint64_t scatter = sent(order->name, "reduce_scatter", kBytes);
        const std::uint64_t gather = sent(order->name, "all_gather", kBytes / kRanks);
        EXPECT_EQ(scatter, (kRanks - 1) * kBytes);
        EXPECT_EQ(gather, (kRanks - 1) * kBytes);
        EXPECT_EQ(sent(order->name, "all_reduce", kBytes), scatter + gather);
        EXPECT_EQ(sent(order->name, "all_to_all", kBytes),
                  kRanks * kBytes / 8 * (8 * 3 / 4 + 8 / 2 + 7));
    }
}

// Two dimensions, the second twice as fast, too small for latencies not to matter: Themis is faster
// than one dimension after the other, and two runs are the same to the byte.
TEST(DimensionOrdersTest, ThemisIsFasterAndDeterministic) {
    const auto time = [](const char* order) {
        return test::run_study(
                   fmt::format(
                       "workload: {{generate: {{kind: collective, bytes: 16MiB}}}}\n"
                       "system:\n"
                       "  chunks: 16\n"
                       "  active_chunks: 4\n"
                       "  dimension_order: {}\n"
                       "  collectives: {{all_reduce: direct}}\n"
                       "network:\n"
                       "  backend: congestion_aware\n"
                       "  dimensions:\n"
                       "    - {{topology: switch, ranks: 4, bandwidth: 50GB/s, latency: 500ns}}\n"
                       "    - {{topology: switch, ranks: 4, bandwidth: 100GB/s, latency: 500ns}}\n",
                       order))
            .simulated.ps;
    };
    EXPECT_LT(static_cast<double>(time("themis")), static_cast<double>(time("ascending")) / 1.3);
    EXPECT_EQ(time("themis"), time("themis"));
}

// 2^16 chunks at 2^12 ranks: 2^28 places in all, a byte a rank and chunk would be there.
TEST(DimensionOrdersTest, RefusesMoreChunksThanFitIntoMemory) {
    try {
        test::run_study(
            "workload: {generate: {kind: collective, bytes: 1GiB}}\n"
            "system: {chunks: 65536}\n"
            "network: {dimensions: [{topology: ring, ranks: 4096, bandwidth: 50GB/s}]}\n");
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("65536 chunks (system.chunks) at 4096 ranks"));
    }
}

// Four chunks cannot be spread over four dimensions: each is larger in its first one than all four
// are in the ascending order, as a rehearsal of both shows.
TEST(ThemisOrder, IsAscendingWhereThatIsBetter) {
    const auto time = [](const char* order) {
        return test::run_study(
                   fmt::format(
                       "workload: {{generate: {{kind: collective, bytes: 64MiB}}}}\n"
                       "system: {{chunks: 4, active_chunks: 8, dimension_order: {}, "
                       "collectives: {{all_reduce: direct}}}}\n"
                       "network: {{backend: congestion_aware, dimensions: ["
                       "{{topology: fully_connected, ranks: 4, bandwidth: 400GB/s, latency: "
                       "100ns}}, {{topology: fully_connected, ranks: 2, bandwidth: 200GB/s, "
                       "latency: 0ns}}, {{topology: fully_connected, ranks: 3, bandwidth: "
                       "100GB/s, latency: 500ns}}, {{topology: fully_connected, ranks: 2, "
                       "bandwidth: 100GB/s, latency: 0ns}}]}}\n",
                       order))
            .simulated.ps;
    };
    EXPECT_EQ(time("themis"), time("ascending"));
}

}  // namespace
}  // namespace astra
