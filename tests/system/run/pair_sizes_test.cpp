// All_to_alls with a size for each pair of ranks.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

using testing::HasSubstr;
// sizes[i][j]: what rank i sends to rank j.
using Matrix = std::vector<std::vector<std::uint64_t>>;

constexpr std::uint64_t kLatencyPs = 500'000;

TraceNode exchange(const Matrix& sizes, std::uint32_t rank, bool says_receives = true) {
    TraceNode node = collective(1, CollectiveKind::AllToAll, 0);
    node.pair_sends = sizes[rank];
    node.comm_bytes = std::accumulate(sizes[rank].begin(), sizes[rank].end(), std::uint64_t{0});
    for (std::size_t from = 0; from < sizes.size() && says_receives; ++from) {
        node.pair_receives.push_back(sizes[from][rank]);
    }
    return node;
}

// Links of 50 GB/s, 20 ps a byte; nothing but the network takes time.
Experiment experiment(const std::vector<NetworkDimension>& dimensions, const Matrix& sizes) {
    Experiment result;
    result.dimensions = dimensions;
    result.network_unit = "GB";
    result.network_only();
    for (std::uint32_t rank = 0; rank < sizes.size(); ++rank) {
        result.traces.push_back({exchange(sizes, rank)});
    }
    return result;
}

Experiment on_switch(const Matrix& sizes) {
    const auto ranks = static_cast<std::uint32_t>(sizes.size());
    Experiment result = experiment({{"Switch", ranks, 50, kLatencyPs}}, sizes);
    result.algorithms = {"direct"};
    return result;
}

Matrix equal(std::uint32_t ranks, std::uint64_t size) {
    return Matrix(ranks, std::vector<std::uint64_t>(ranks, size));
}

// Different for every pair, some of them 0.
Matrix uneven(std::uint32_t ranks) {
    Matrix sizes = equal(ranks, 0);
    for (std::uint32_t i = 0; i < ranks; ++i) {
        for (std::uint32_t j = 0; j < ranks; ++j) {
            sizes[i][j] = (i + 2 * j) % 5 == 0 ? 0 : 1000 * (1 + i) + 7 * j;
        }
    }
    return sizes;
}

std::uint64_t messages(const Matrix& sizes) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        for (std::size_t j = 0; j < sizes.size(); ++j) {
            count += i != j && sizes[i][j] > 0 ? 1 : 0;
        }
    }
    return count;
}

// With the same size for every pair nothing differs from an all_to_all without sizes.
TEST(PairSizesTest, EqualSizesTakeTheTimeOfEqualParts) {
    for (const std::uint32_t ranks : {4U, 6U, 8U}) {
        for (const char* algorithm : {"direct",
                                      "direct2",
                                      "pairwise",
                                      "bruck",
                                      "ring",
                                      "hierarchical2",
                                      "hierarchical2:bruck-direct"}) {
            for (const char* backend : {"congestion_unaware", "congestion_aware"}) {
                Experiment pairs = on_switch(equal(ranks, 5000));
                pairs.algorithms = {algorithm};
                pairs.backend = backend;
                Experiment parts = pairs;
                parts.traces =
                    everywhere(ranks, {collective(1, CollectiveKind::AllToAll, ranks * 5000ULL)});
                const RunResult got = run(pairs);
                const RunResult expected = run(parts);
                EXPECT_EQ(got.simulated.ps, expected.simulated.ps) << algorithm << " " << backend;
                EXPECT_EQ(got.counts.messages, expected.counts.messages) << algorithm;
                EXPECT_EQ(got.collectives.front().bytes, expected.collectives.front().bytes);
            }
        }
    }
}

// Over a grid the dimensions are the levels of one program, which sends what the phases send.
TEST(PairSizesTest, EqualSizesOverDimensionsSendTheSameBytes) {
    Experiment pairs =
        experiment({{"Ring", 4, 50, kLatencyPs}, {"Switch", 2, 50, kLatencyPs}}, equal(8, 5000));
    pairs.algorithms = {"direct", "pairwise"};
    Experiment parts = pairs;
    parts.traces = everywhere(8, {collective(1, CollectiveKind::AllToAll, 8 * 5000ULL)});
    const RunResult got = run(pairs);
    const RunResult expected = run(parts);
    EXPECT_EQ(got.simulated.ps, expected.simulated.ps);
    EXPECT_EQ(got.counts.message_bytes, expected.counts.message_bytes);
    EXPECT_EQ(got.collectives.front().algorithm, "direct+pairwise");
}

// A rank's link up carries what it sends to the others, its link down what they send to it. Alone
// on its path, the longest message takes two latencies and 20 ps a byte.
TEST(PairSizesTest, LinksCarryTheSumsOfTheirPairs) {
    const Matrix sizes = uneven(7);
    for (const char* algorithm : {"direct", "direct2", "pairwise"}) {
        Experiment pairs = on_switch(sizes);
        pairs.algorithms = {algorithm};
        const RunResult result = run(pairs);
        EXPECT_EQ(result.counts.messages, messages(sizes)) << algorithm;
        for (std::uint32_t rank = 0; rank < 7; ++rank) {
            std::uint64_t up = 0;
            std::uint64_t down = 0;
            for (std::uint32_t other = 0; other < 7; ++other) {
                up += other == rank ? 0 : sizes[rank][other];
                down += other == rank ? 0 : sizes[other][rank];
            }
            for (const LinkRecord& link : result.links) {
                if (link.from == std::to_string(rank)) {
                    EXPECT_EQ(link.bytes.count, up);
                }
                if (link.to == std::to_string(rank)) {
                    EXPECT_EQ(link.bytes.count, down);
                }
            }
        }
    }
    std::uint64_t longest = 0;
    for (std::uint32_t i = 0; i < 7; ++i) {
        for (std::uint32_t j = 0; j < 7; ++j) {
            longest = std::max(longest, i == j ? 0 : sizes[i][j]);
        }
    }
    EXPECT_EQ(run(on_switch(sizes)).simulated.ps, 2 * kLatencyPs + 20 * longest);
}

// Bruck's: what goes j ahead moves once for every one of j in binary. Ring: j times. Two levels of
// three: once inside unless the position is the same, once across unless the group is.
TEST(PairSizesTest, MessagesThatAreHandedOnCarryWhatTheirPairsHave) {
    const Matrix sizes = uneven(6);
    const auto sum = [&](auto moves) {
        std::uint64_t bytes = 0;
        for (std::uint32_t i = 0; i < 6; ++i) {
            for (std::uint32_t j = 0; j < 6; ++j) {
                bytes += sizes[i][j] * moves(i, j);
            }
        }
        return bytes;
    };
    const auto sent = [&](const char* algorithm, std::uint32_t chunks) {
        Experiment pairs = on_switch(sizes);
        pairs.algorithms = {algorithm};
        pairs.chunks = chunks;
        return run(pairs).counts.message_bytes;
    };
    for (const std::uint32_t chunks : {1U, 3U}) {
        EXPECT_EQ(sent("bruck", chunks), sum([](std::uint32_t i, std::uint32_t j) {
                      return static_cast<std::uint32_t>(std::popcount((j + 6 - i) % 6));
                  }));
        EXPECT_EQ(sent("ring", chunks),
                  sum([](std::uint32_t i, std::uint32_t j) { return (j + 6 - i) % 6; }));
        EXPECT_EQ(sent("hierarchical3", chunks), sum([](std::uint32_t i, std::uint32_t j) {
                      return (i % 3 == j % 3 ? 0U : 1U) + (i / 3 == j / 3 ? 0U : 1U);
                  }));
    }
}

// Rank 3 comes 100 us late and exchanges nothing with rank 0.
Experiment with_a_late_rank(bool says_receives) {
    Matrix sizes = equal(4, 1000);
    sizes[3][0] = 0;
    sizes[0][3] = 0;
    Experiment pairs = on_switch(sizes);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        pairs.traces[rank] = {exchange(sizes, rank, says_receives)};
    }
    pairs.traces[3][0].parents = {2};
    pairs.traces[3].push_back(compute(2, 100));
    return pairs;
}

TEST(PairSizesTest, NobodyWaitsForNothing) {
    const RunResult result = run(with_a_late_rank(true));
    // A message of 1000 B over two links.
    const std::uint64_t message_ps = 2 * kLatencyPs + 20'000;
    EXPECT_EQ(rank_record(result, 0).finish.ps, message_ps);
    EXPECT_EQ(rank_record(result, 1).finish.ps, 100'000'000 + message_ps);
    EXPECT_EQ(result.counts.messages, 10U);
}

// Who does not say what it expects has to wait until the other one comes to send nothing.
TEST(PairSizesTest, WithoutReceivesARankWaitsForTheOthersToCome) {
    const RunResult result = run(with_a_late_rank(false));
    EXPECT_EQ(rank_record(result, 0).finish.ps, 100'000'000U);
    EXPECT_EQ(result.counts.messages, 10U);
}

TEST(PairSizesTest, RendezvousAsksForWhatIsSent) {
    Experiment pairs = with_a_late_rank(true);
    pairs.rendezvous = true;
    EXPECT_EQ(run(pairs).counts.messages, 20U);
    Experiment unsaid = with_a_late_rank(false);
    unsaid.rendezvous = true;
    EXPECT_EQ(run(unsaid).counts.messages, 22U);
}

TEST(PairSizesTest, RanksThatDisagreeAreNamed) {
    const Matrix sizes = uneven(4);
    Experiment pairs = on_switch(sizes);
    pairs.traces[3][0].pair_receives[1] += 1;
    const ProgramRun differ = run_captured(pairs);
    EXPECT_EQ(differ.status, 2);
    EXPECT_THAT(differ.error,
                HasSubstr("rank 1 (node 1) sends 2021 B to rank 3 (node 1), which expects 2022 B"));

    Experiment half = on_switch(sizes);
    half.traces[3] = {collective(1, CollectiveKind::AllToAll, 4096)};
    const ProgramRun without = run_captured(half);
    EXPECT_EQ(without.status, 2);
    EXPECT_THAT(without.error, HasSubstr("with a size for each pair"));
    EXPECT_THAT(without.error, HasSubstr("disagree"));
}

TEST(PairSizesTest, AListOfAnotherLengthIsNamed) {
    Experiment pairs = on_switch(equal(4, 1000));
    pairs.traces[1][0].pair_sends.pop_back();
    pairs.traces[1][0].pair_receives.clear();
    pairs.traces[1][0].comm_bytes = 3000;
    const ProgramRun result = run_captured(pairs);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.error, HasSubstr("rank 1, node 1"));
    EXPECT_THAT(result.error, HasSubstr("in_split_size has 3 sizes, but group"));
}

TEST(PairSizesTest, OverSomeDimensionsOnlyIsRefused) {
    Experiment pairs =
        experiment({{"Ring", 2, 50, kLatencyPs}, {"Switch", 2, 50, kLatencyPs}}, equal(4, 1000));
    for (Trace& trace : pairs.traces) {
        trace[0].involved_dimensions = {true, false};
    }
    const ProgramRun result = run_captured(pairs);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.error, HasSubstr("runs over all 4 ranks of it, not over 2"));
}

// Measured: the most that one rank sends counts.
TEST(PairSizesTest, MeasuredTimesTakeTheLargest) {
    Matrix sizes = equal(2, 0);
    sizes[1][0] = 3000;
    sizes[0][1] = 1000;
    Experiment pairs = on_switch(sizes);
    pairs.algorithms = {"ring"};
    pairs.settings = {"system.collectives.all_to_all=measured",
                      "system.measured.all_to_all={alpha: 1us, beta: 1GB/s}"};
    EXPECT_EQ(run(pairs).simulated.ps, 1'000'000U + 3'000'000U);
}

}  // namespace
}  // namespace astra::test
