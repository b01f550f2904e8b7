// Cases 1 to 11: numbers that follow from latency, bandwidth and the number of ranks.
#include <gtest/gtest.h>

#include "astra/results/summary.h"
#include "tests/validation/case_check.h"

namespace astra::test {
namespace {

// 2(N-1)(L + S/(N·B)).
TEST(Case01, RingAllReduce) {
    expect_both_units(r8_all_reduce(), 43700.16, 41179.69);
    const RunResult result = run(r8_all_reduce());
    ASSERT_EQ(result.links.size(), 8U);
    for (const LinkRecord& link : result.links) {
        EXPECT_EQ(link.bytes.count, 1'835'008U);
    }
}

// S is not a multiple of 7; the bytes still add up to 2(N-1)·S. The block that sets the time of the
// last rank is 149,797 bytes, a seventh rounded up: less than a byte, 0.02 ns, in each of 12 steps.
TEST(Case01, RingOfSeven) {
    Experiment experiment = on({ring(7)}, {collective(1, CollectiveKind::AllReduce, kMiB)});
    for (const auto& [unit, ns] : {std::pair{"GB", 41951.18}, std::pair{"GiB", 39482.14}}) {
        experiment.network_unit = unit;
        const RunResult result = run(experiment);
        EXPECT_NEAR(static_cast<double>(finish_range(result).latest_ps) / 1000.0, ns, 0.25);
        EXPECT_EQ(result.counts.message_bytes, 2ULL * 6 * kMiB);
    }
}

TEST(Case02, UnitsDifferByTheirRatio) {
    Experiment experiment = r8_all_reduce();
    experiment.network_unit = "GB";
    const double decimal = static_cast<double>(run(experiment).simulated.ps) - 7e6;
    const ProgramRun decimal_run = run_captured(experiment);
    experiment.network_unit = "GiB";
    const double binary = static_cast<double>(run(experiment).simulated.ps) - 7e6;
    const ProgramRun binary_run = run_captured(experiment);
    EXPECT_NEAR(decimal / binary, 1.073741824, 1e-6);
    EXPECT_THAT(decimal_run.out, testing::ContainsRegex("50 ?GB/s"));
    EXPECT_THAT(binary_run.out, testing::ContainsRegex("50 ?GiB/s"));
}

TEST(Case03, BusBandwidthIsTheRateOfTheLink) {
    for (const auto& [kind, trace_bytes] :
         {std::pair{CollectiveKind::AllReduce, 1ULL << 30U},
          std::pair{CollectiveKind::AllGather, 1ULL << 27U},
          std::pair{CollectiveKind::ReduceScatter, 1ULL << 30U}}) {
        Experiment experiment = on({{"Ring", 8, 50, 0}}, {collective(1, kind, trace_bytes)});
        experiment.network_unit = "GB";
        const RunResult result = run(experiment);
        ASSERT_EQ(result.collectives.size(), 1U);
        const CollectiveRecord& record = result.collectives.front();
        EXPECT_EQ(record.total_bytes.count, 1ULL << 30U);
        const double algorithm_bandwidth = static_cast<double>(record.total_bytes.count) /
                                           static_cast<double>(result.simulated.ps) * 1e3;
        EXPECT_NEAR(algorithm_bandwidth * bus_factor(kind, 8), 50.0, 1e-4);
    }
    const Experiment experiment =
        on({{"Ring", 8, 50, 0}}, {collective(1, CollectiveKind::AllReduce, 1ULL << 30U)});
    Experiment decimal = experiment;
    decimal.network_unit = "GB";
    expect_ns(run(decimal), 37'580'963.84);
}

TEST(Case03, FactorsOfTheKinds) {
    for (const std::uint32_t n : {2U, 5U, 8U}) {
        const double part = (n - 1.0) / n;
        EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::AllReduce, n), 2 * part);
        for (const CollectiveKind kind :
             {CollectiveKind::AllGather, CollectiveKind::ReduceScatter, CollectiveKind::AllToAll}) {
            EXPECT_DOUBLE_EQ(bus_factor(kind, n), part);
        }
        EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::Broadcast, n), 1.0);
        EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::Reduce, n), 1.0);
    }
}

// On a switch of direct connections each of the seven messages has a link of its own only on the
// way down.
TEST(Case03, AllToAllBusBandwidth) {
    Experiment experiment =
        on({{"Switch", 8, 50, 0}}, {collective(1, CollectiveKind::AllToAll, 1ULL << 30U)});
    experiment.algorithms = {"direct"};
    experiment.backend = kAware;
    experiment.network_unit = "GB";
    // Store-and-forward: seven messages up, and the last one down: 8·2^27 B at 50 B/ns.
    expect_ns(run(experiment), 21'474'836.48);
    EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::AllToAll, 8), 7.0 / 8.0);
}

TEST(Case03, Broadcast) {
    EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::Broadcast, 8), 1.0);
    TraceNode node = collective(1, CollectiveKind::Broadcast, 1ULL << 30U);
    node.source = 0;
    Experiment experiment = on({{"FullyConnected", 8, 50, 0}}, {node});
    experiment.network_unit = "GB";
    // Binomial: log2 8 rounds of the whole buffer.
    EXPECT_NEAR(
        static_cast<double>(run(experiment).simulated.ps) / 1000.0, 3 * 21'474'836.48, 0.03);
}

// Unaware is cut-through without contention; aware stores and forwards whole messages.
TEST(Case04, RingAndDirectOnOneSwitch) {
    constexpr double gibi = 53.6870912;  // bytes a nanosecond
    Experiment experiment =
        on({{"Switch", 8, 50, 10'000}}, {collective(1, CollectiveKind::AllReduce, 100'000'000)});
    expect_both_units(experiment, 3'500'280, 280 + 14 * 12.5e6 / gibi);
    experiment.backend = kAware;
    expect_both_units(experiment, 7'000'280, 280 + 28 * 12.5e6 / gibi);
    experiment.algorithms = {"direct"};
    expect_both_units(experiment, 4'000'040, 40 + 16 * 12.5e6 / gibi);
}

TEST(Case06, RingOfTwo) {
    for (const char* backend : {kUnaware, kAware}) {
        Experiment experiment = on({ring(2)}, {collective(1, CollectiveKind::AllReduce, kMiB)});
        experiment.backend = backend;
        expect_both_units(experiment, 21971.52, 20531.25);
    }
}

TEST(Case07, HalvingDoubling) {
    Experiment experiment = on({connected(8)}, {collective(1, CollectiveKind::AllReduce, kMiB)});
    experiment.algorithms = {"halvingDoubling"};
    expect_both_units(experiment, 39700.16, 37179.69);
}

// Ranks 4 and 5 fold into 0 and 1: 2(L + S/B) and 2(2L + 3S/4B). The ranks without a partner finish
// before.
TEST(Case07, HalvingDoublingOfSix) {
    Experiment experiment = on({connected(6)}, {collective(1, CollectiveKind::AllReduce, kMiB)});
    experiment.algorithms = {"halvingDoubling"};
    for (const auto& [unit, ns] : {std::pair{"GB", 76400.32}, std::pair{"GiB", 71359.38}}) {
        experiment.network_unit = unit;
        EXPECT_NEAR(static_cast<double>(run(experiment).simulated.ps) / 1000.0, ns, 0.03);
    }
}

TEST(Case09, SizeOfAnAllGather) {
    Experiment experiment = r8({collective(1, CollectiveKind::AllGather, kMiB)});
    expect_both_units(experiment, 150300.64, 140218.75);
    experiment.settings = {"workload.all_gather_size=total"};
    expect_both_units(experiment, 21850.08, 20589.84);
}

TEST(Case09, AllReduceIsReduceScatterAndAllGather) {
    const auto time = [](CollectiveKind kind, std::uint64_t bytes) {
        return run(r8({collective(1, kind, bytes)})).simulated.ps;
    };
    EXPECT_EQ(
        time(CollectiveKind::AllReduce, kMiB),
        time(CollectiveKind::ReduceScatter, kMiB) + time(CollectiveKind::AllGather, kMiB / 8));
}

TEST(Case10, BytesOrElements) {
    const Experiment bytes = r8_all_reduce(2 * kMiB);
    Experiment elements = r8_all_reduce();
    elements.settings = {"workload.element_bytes=2"};
    const RunResult of_bytes = run(bytes);
    const RunResult of_elements = run(elements);
    EXPECT_EQ(of_bytes.simulated, of_elements.simulated);
    EXPECT_EQ(of_bytes.counts.message_bytes, of_elements.counts.message_bytes);
    EXPECT_EQ(of_bytes.collectives.front().bytes, of_elements.collectives.front().bytes);
    EXPECT_THAT(run_captured(elements).out,
                testing::HasSubstr(std::to_string(2ULL * 7 * 2 * kMiB)));
}

TEST(Case11, Incast) {
    Experiment experiment;
    experiment.dimensions = {switched(8)};
    experiment.network_only();
    experiment.traces.resize(1);
    for (std::uint32_t rank = 1; rank < 8; ++rank) {
        experiment.traces[0].push_back(receive(rank, rank, 0, 0, kMiB));
        experiment.traces.push_back({send(1, rank, 0, 0, kMiB)});
    }
    expect_both_units(experiment, 21971.52, 20531.25);
    experiment.backend = kAware;
    for (const auto& [unit, ns] : {std::pair{"GB", 168772.16}, std::pair{"GiB", 157250.0}}) {
        experiment.network_unit = unit;
        EXPECT_NEAR(static_cast<double>(run(experiment).simulated.ps) / 1000.0, ns, 0.03);
    }
}

}  // namespace
}  // namespace astra::test
