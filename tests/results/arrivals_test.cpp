// When the ranks of a collective came, for whom they waited, and the bandwidth once all were there.
#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "astra/results/result_files.h"
#include "astra/results/summary.h"
#include "tests/support/experiment.h"

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
        EXPECT_THAT(collectives_csv(result),
                    HasSubstr("last_arrival_ps,waited_for_rank,wait_ps,transfer_ps\n"));
        EXPECT_THAT(collectives_csv(result), HasSubstr(",900000000,3,900000000,31457280\n"));
    }
}

// The bus bandwidth is that of the links with and without the wait, as nccl-tests begins to measure
// when all ranks are there.
TEST(Arrivals, BusBandwidthCountsFromTheLastArrival) {
    EXPECT_THAT(summary(run(ring_of_4())), HasSubstr("      0 ps 31.4573 us     50.000\n"));
    EXPECT_THAT(summary(run(late())), HasSubstr("    900 us 31.4573 us     50.000\n"));
}

TEST(Arrivals, NobodyIsWaitedForByRanksInStep) {
    const RunResult result = run(ring_of_4());
    const auto json = nlohmann::json::parse(result_json(result)).at("collectives").at(0);
    EXPECT_EQ(json.at("last_arrival_ps"), 0);
    EXPECT_TRUE(json.at("waited_for_rank").is_null());
    EXPECT_EQ(json.at("wait_ps"), 0);
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
