// When the ranks of a collective came, for whom they waited, and the bandwidth once all were there.
#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "astra/results/result_files.h"
#include "astra/results/summary.h"
#include "tests/support/experiment.h"
#include "tests/support/network_models.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

// A ring of 4 without latency or costs of an endpoint: an all_reduce of 1 MiB takes 6 steps of
// 256 KiB. The part that the late rank sends first passes everybody twice but for the last hop, so
// that from its arrival on the ring takes as long as if all had come together.
constexpr std::uint64_t kBytes = 1U << 20U;

Experiment ring_of_4() {
    Experiment e;
    e.dimensions = {{"Ring", 4, 50, 0}};
    e.network_unit = "GB";
    e.network_only();
    e.traces = everywhere(4, {collective(1, CollectiveKind::AllReduce, kBytes)});
    return e;
}

// Rank 3 computes for 900 us first, rank 1 for 300.
Experiment late() {
    Experiment e = ring_of_4();
    e.traces[3] = {compute(1, 900), collective(2, CollectiveKind::AllReduce, kBytes, {1})};
    e.traces[1] = {compute(1, 300), collective(2, CollectiveKind::AllReduce, kBytes, {1})};
    return e;
}

TEST(Arrivals, TheLastRankIsNamed) {
    const std::uint64_t step_ps = 262'144 * 20;  // at 50 GB/s
    for (const char* backend : {"congestion_unaware", "congestion_aware", "flow"}) {
        SCOPED_TRACE(backend);
        Experiment experiment = late();
        experiment.backend = backend;
        const RunResult result = run(experiment);
        ASSERT_EQ(result.collectives.size(), 1U);
        const CollectiveRecord& record = result.collectives[0];
        EXPECT_EQ(record.start.ps, 0U);
        EXPECT_EQ(record.last_arrival.ps, 900'000'000U);
        EXPECT_EQ(index(record.last), 3U);
        EXPECT_EQ(record.wait().ps, 900'000'000U);
        EXPECT_EQ(record.transfer().ps, 6 * step_ps);
        const auto json = nlohmann::json::parse(result_json(result)).at("collectives").at(0);
        EXPECT_EQ(json.at("last_arrival_ps"), 900'000'000);
        EXPECT_EQ(json.at("waited_for_rank"), 3);
        EXPECT_EQ(json.at("wait_ps"), 900'000'000);
        EXPECT_EQ(json.at("transfer_ps"), 6 * step_ps);
        EXPECT_THAT(
            collectives_csv(result),
            HasSubstr(
                "last_arrival_ps,waited_for_rank,wait_ps,transfer_ps,exposed_ps,beyond_links\n"));
        EXPECT_THAT(collectives_csv(result), HasSubstr(",900000000,3,900000000,31457280,"));
    }
}

// The bus bandwidth is that of the links with and without the wait, as nccl-tests begins to measure
// when all ranks are there.
TEST(Arrivals, BusBandwidthCountsFromTheLastArrival) {
    EXPECT_THAT(summary(run(ring_of_4())),
                HasSubstr("      0 ps 31.4573 us     50.000 31.4573 us\n"));
    EXPECT_THAT(summary(run(late())), HasSubstr("    900 us 31.4573 us     50.000 "));
}

TEST(Arrivals, NobodyIsWaitedForByRanksInStep) {
    const RunResult result = run(ring_of_4());
    const auto json = nlohmann::json::parse(result_json(result)).at("collectives").at(0);
    EXPECT_EQ(json.at("last_arrival_ps"), 0);
    EXPECT_TRUE(json.at("waited_for_rank").is_null());
    EXPECT_EQ(json.at("wait_ps"), 0);
}

TEST(Arrivals, TheSummaryNamesTheStraggler) {
    EXPECT_THAT(
        summary(run(late())),
        HasSubstr("straggler        rank 3: the others waited 2.4 ms for it in all, 100.0 % of "
                  "what ranks waited\n"));
    EXPECT_THAT(summary(run(ring_of_4())), testing::Not(HasSubstr("straggler")));
}

// Nothing else is exposed: what the collectives had is what the ranks had, with a rank late, too.
TEST(Arrivals, ExposedTimeOfCollectivesIsThatOfTheRanks) {
    for (const NetworkModel& model : network_models()) {
        SCOPED_TRACE(model.name());
        Experiment experiment = late();
        experiment.backend = std::string(model.backend->name);
        experiment.traces[0].push_back(compute(8, 20));
        const RunResult result = run(experiment);
        std::uint64_t of_collectives = 0;
        std::uint64_t of_ranks = 0;
        for (const CollectiveRecord& record : result.collectives) {
            of_collectives += record.exposed.ps;
        }
        for (const RankRecord& rank : result.ranks) {
            of_ranks += rank.exposed_communication.ps;
        }
        EXPECT_GT(of_ranks, 0U);
        EXPECT_EQ(of_collectives, of_ranks);
    }
}

// The groups {0, 1} and {2, 3} are alike, {0, 2} is another class.
TEST(Arrivals, GroupsThatAreAlikeShareARow) {
    Experiment experiment = ring_of_4();
    experiment.groups = {{"1", {0, 1}}, {"2", {2, 3}}, {"3", {0, 2}}};
    const auto reduce = [](std::uint64_t id, const char* group) {
        return collective(id, CollectiveKind::AllReduce, kBytes, {}, group);
    };
    experiment.traces = {{reduce(1, "1"), reduce(2, "3")},
                         {reduce(1, "1")},
                         {reduce(1, "2"), reduce(2, "3")},
                         {reduce(1, "2")}};
    const std::string text = summary(run(experiment));
    EXPECT_THAT(text, testing::ContainsRegex("all_reduce +ring +2 x 2 +2 +1 MiB"));
    EXPECT_THAT(text, testing::ContainsRegex("all_reduce +ring +2, 2 apart +1 +1 MiB"));
}

// A rank of the group has another number in the fabric; of two that come last together the one of
// which the run hears first is named.
TEST(Arrivals, RanksOfTheFabricAreNamed) {
    Experiment experiment = ring_of_4();
    experiment.groups["7"] = {1, 3};
    const TraceNode reduce = collective(2, CollectiveKind::AllReduce, kBytes, {1}, "7");
    experiment.traces = {
        {compute(1, 1)}, {compute(1, 5), reduce}, {compute(1, 1)}, {compute(1, 2), reduce}};
    const RunResult result = run(experiment);
    ASSERT_EQ(result.collectives.size(), 1U);
    EXPECT_EQ(index(result.collectives[0].last), 1U);
    EXPECT_EQ(result.collectives[0].wait().ps, 3'000'000U);
}

}  // namespace
}  // namespace astra::test
