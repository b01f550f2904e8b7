// Collectives that take less time than their links need: marked where they are told of, and never
// there where messages share links.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "astra/core/kind_names.h"
#include "astra/results/result_files.h"
#include "astra/results/summary.h"
#include "network/backend/backend.h"
#include "system/algorithms/algorithm.h"
#include "system/plan/plan_maker.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

Duration busiest(const RunResult& result) {
    Duration most;
    for (const LinkRecord& link : result.links) {
        most = std::max(most, link.busy);
    }
    return most;
}

// A ring all_reduce of 8 MiB in four chunks: 8 ranks at 50 GiB/s, 500 ns. A rank sends 2·7/8 of it,
// 14 MiB, which is 273,437,500 ps on the wire. Without sharing a chunk does not hold up another, so
// that all four take the time of one: 14·(500,000 ps + 256 KiB / 50 GiB/s = 4,882,813 ps).
Experiment four_chunks(std::uint32_t active) {
    Experiment e;
    e.chunks = 4;
    e.active_chunks = active;
    e.network_only();
    e.traces = everywhere(8, {collective(1, CollectiveKind::AllReduce, 8 * kMiB)});
    return e;
}

TEST(BeyondLinks, ChunksThatDoNotShareLinks) {
    const RunResult together = run(four_chunks(4));
    ASSERT_EQ(together.collectives.size(), 1U);
    EXPECT_EQ(together.simulated.ps, 14U * 5'382'813U);
    EXPECT_EQ(together.collectives[0].need.ps, 273'437'500U);
    EXPECT_TRUE(together.collectives[0].beyond_links());
    // 8 MiB · 2·7/8 / 75,359,382 ps = 194.801 GB/s; 273,437,500 / 75,359,382 = 3.63.
    EXPECT_THAT(
        summary(together),
        HasSubstr("   194.801 75.3594 us !\n"
                  "                 ! beyond what the links can carry, as messages do not share "
                  "links on congestion_unaware: 1 of 1,\n"
                  "                   for which the busiest link has 3.63 times the work"));
    EXPECT_EQ(nlohmann::json::parse(result_json(together))["collectives"][0]["beyond_links"], true);

    // One after the other they fit.
    const RunResult in_turn = run(four_chunks(1));
    EXPECT_EQ(in_turn.collectives[0].need.ps, 273'437'500U);
    EXPECT_FALSE(in_turn.collectives[0].beyond_links());
    EXPECT_THAT(summary(in_turn), Not(HasSubstr("!")));
    EXPECT_EQ(nlohmann::json::parse(result_json(in_turn))["collectives"][0]["beyond_links"], false);
}

// Those that come in time do a part of the work before the last one is there, so that what is left
// takes less than the links need for all of it: no reason to mark it.
TEST(BeyondLinks, ALateRankIsNoReason) {
    Experiment e = four_chunks(1);
    e.algorithms = {"direct"};
    e.dimensions = {{"Switch", 8}};
    e.chunks = 1;
    e.traces = everywhere(8, {collective(1, CollectiveKind::Broadcast, 8 * kMiB)});
    for (const std::uint32_t late : {1U, 7U}) {
        e.traces[late] = {compute(2, 10'000),
                          collective(1, CollectiveKind::Broadcast, 8 * kMiB, {2})};
        const RunResult result = run(e);
        const CollectiveRecord& record = result.collectives.at(0);
        EXPECT_GE(record.end.ps, 10'000'000'000U);
        EXPECT_GT(record.need.ps, 0U);
        EXPECT_FALSE(record.beyond_links());
    }
}

// A time that was measured is what it is, on every backend: 8 MiB by 200 GB/s take 41.94304 us, but
// a rank of a ring has two links of 50 GB/s each way, which need 83.88608 us for what it receives.
TEST(BeyondLinks, MeasuredTimesOnEveryBackend) {
    const auto measured = [](std::string_view backend, const std::string& rate) {
        return run_study(
            "workload: {generate: {kind: collective, collective: all_reduce, bytes: 8MiB}}\n"
            "system: {collectives: {all_reduce: measured}, measured: {all_reduce: {alpha: 0ns, "
            "beta: " +
            rate + "}}}\nnetwork: {backend: " + std::string(backend) +
            ", dimensions: [{topology: ring, ranks: 8, bandwidth: 50GB/s}]}\n");
    };
    for (const BackendInfo* backend : backends()) {
        const RunResult result = measured(backend->name, "200GB/s");
        EXPECT_EQ(result.simulated.ps, 41'943'040U);
        EXPECT_EQ(result.collectives.at(0).need.ps, 83'886'080U);
        EXPECT_TRUE(result.collectives.at(0).beyond_links());
        EXPECT_THAT(summary(result), HasSubstr("as measured times are taken as they are: 1 of 1"));
        EXPECT_FALSE(measured(backend->name, "100GB/s").collectives.at(0).beyond_links());
    }
}

// Experts' all_to_alls have a size for each pair: what a rank sends and receives is sure.
TEST(BeyondLinks, SizesByPairNeedTheLinksOfARank) {
    const auto experts = [](std::string_view backend) {
        return run_study(
            "workload: {generate: {kind: experts, layers: 1, bytes: 64MiB}}\n"
            "system: {collectives: {all_to_all: direct}}\n"
            "network: {backend: " +
            std::string(backend) +
            ", dimensions: [{topology: switch, ranks: 8, bandwidth: 50GB/s}]}\n");
    };
    std::size_t marked = 0;
    for (const CollectiveRecord& record : experts("congestion_unaware").collectives) {
        EXPECT_GT(record.need.ps, 0U);
        marked += record.beyond_links() ? 1 : 0;
    }
    EXPECT_GT(marked, 0U);
    for (const CollectiveRecord& record : experts("flow").collectives) {
        EXPECT_EQ(record.need.ps, 0U);
    }
}

// Nothing where the algorithm cannot do the kind on this network.
std::optional<RunResult> run_if_able(const Experiment& experiment) {
    try {
        return run(experiment);
    } catch (const AlgorithmRefused&) {
        return std::nullopt;
    }
}

// What a collective needs is the work that its busiest link records when it is alone; every message
// is rounded up to a picosecond there. On backends whose links are shared no link has more work
// than time, so that nothing is marked.
class BeyondLinksEverywhere : public testing::TestWithParam<std::vector<NetworkDimension>> {
  protected:
    void check(const BackendInfo& backend, const CollectiveAlgorithm& algorithm, Experiment e) {
        e.dimensions = GetParam();
        e.backend = backend.name;
        e.algorithms = {std::string(algorithm.name)};
        e.settings = {"system.in_switch_reduction=true"};
        const auto result = run_if_able(e);
        if (!result) {
            return;
        }
        const CollectiveRecord& record = result->collectives.at(0);
        if (backend.shares_links()) {
            EXPECT_EQ(record.need.ps, 0U);
            EXPECT_LE(busiest(*result).ps, std::max(result->simulated, result->ended).ps);
        } else {
            // Up to a picosecond, and to a byte where a switch shares the bytes of messages out.
            const std::uint64_t rounding = algorithm.in_switch == nullptr ? 1 : 1 + 38;
            EXPECT_LE(record.need, busiest(*result));
            EXPECT_GE(record.need.ps + rounding * result->counts.messages, busiest(*result).ps);
            ++needs_;
            beyond_ += record.beyond_links() ? 1 : 0;
        }
    }
    std::size_t needs_ = 0;
    std::size_t beyond_ = 0;
};

TEST_P(BeyondLinksEverywhere, IsTheWorkOfTheBusiestLink) {
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        if (algorithm->takes_parameter || algorithm->levels != nullptr) {
            continue;
        }
        for (const CollectiveKind kind : {CollectiveKind::AllReduce,
                                          CollectiveKind::AllGather,
                                          CollectiveKind::ReduceScatter,
                                          CollectiveKind::AllToAll,
                                          CollectiveKind::Broadcast}) {
            for (const BackendInfo* backend : backends()) {
                SCOPED_TRACE(std::string(algorithm->name) + " " + name_of(kind) + " on " +
                             std::string(backend->name));
                Experiment e = four_chunks(4);
                e.traces = everywhere(8, {collective(1, kind, 8 * kMiB)});
                check(*backend, *algorithm, e);
            }
        }
    }
    EXPECT_GT(beyond_, 0U);
    EXPECT_GT(needs_, 20U);
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         BeyondLinksEverywhere,
                         testing::Values(std::vector<NetworkDimension>{{"Ring", 8}},
                                         std::vector<NetworkDimension>{{"Switch", 8}},
                                         std::vector<NetworkDimension>{{"FullyConnected", 8}},
                                         std::vector<NetworkDimension>{{"Ring", 4},
                                                                       {"Switch", 2, 25}}));

}  // namespace
}  // namespace astra::test
