// Policies on the models of inputs/studies/caramel against a reference model of one serial network:
// milliseconds of an iteration in steady state, worked out outside of this program from the tables
// of tensors, α and β.
#include <algorithm>
#include <map>
#include <ostream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "tests/support/caramel_study.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

struct Row {
    const char* study;
    double ratio;  // M / P without overlap
    double none;
    double wfbp;
    double fusion;
    double mg_wfbp;
    double priority;
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.study;
}

constexpr double kTolerance = 0.03;

std::string policy(const std::string& name) {
    return "system.transfers.policy=" + name;
}

class CaramelTable : public testing::TestWithParam<Row> {};

TEST_P(CaramelTable, Row) {
    const Row& row = GetParam();
    const std::map<std::string, double> expected = {{"none", row.none},
                                                    {"wfbp", row.wfbp},
                                                    {"fusion", row.fusion},
                                                    {"mg-wfbp", row.mg_wfbp},
                                                    {"priority", row.priority}};
    double best = row.none;
    for (const auto& [name, time_ms] : expected) {
        const TrainingResult training = run_caramel(row.study, {policy(name)}).training.at(0);
        const double steady = milliseconds(training.steady);
        EXPECT_NEAR(steady, time_ms, kTolerance * time_ms) << name;
        EXPECT_GE(training.steady, training.lower_bound) << name;
        best = std::min(best, steady);
        if (name == "none") {
            EXPECT_NEAR(training.ratio, row.ratio, 0.006);
            EXPECT_NEAR(training.overlap, 0, 1e-6);
            EXPECT_EQ(training.steady, training.communication + training.computation);
        }
    }
    const TrainingResult caramel = run_caramel(row.study, {}).training.at(0);
    EXPECT_LE(milliseconds(caramel.steady), 1.01 * best);
    EXPECT_GE(caramel.steady, caramel.lower_bound);
}

INSTANTIATE_TEST_SUITE_P(
    AllRows,
    CaramelTable,
    testing::Values(Row{"resnet50_10gbe", 1.75, 271.4, 205.7, 112.2, 113.4, 180.1},
                    Row{"vgg16_10gbe", 1.14, 795.1, 547.7, 536.8, 536.8, 540.2},
                    Row{"alexnet_10gbe", 2.74, 256.6, 211.1, 207.5, 207.5, 238.4},
                    Row{"resnet152_10gbe", 1.66, 737.9, 553.0, 278.7, 282.9, 467.8},
                    Row{"vgg16_56gib", 0.62, 599.7, 371.5, 371.5, 371.5, 372.7}),
    [](const auto& test) { return std::string(test.param.study); });

// Partitions of 4,096,000 B, and a fusion cycle of 5 ms, slow the first row down so far.
TEST(Caramel, PublishedParametersOfTheOthers) {
    EXPECT_NEAR(steady_ms("resnet50_10gbe",
                          {policy("priority"), "system.transfers.priority.partition=4096000B"}),
                186.4,
                kTolerance * 186.4);
    const double slower =
        steady_ms("resnet50_10gbe", {policy("fusion"), "system.transfers.fusion.cycle=5ms"}) /
        112.2;
    EXPECT_GE(slower, 1.02);
    EXPECT_LE(slower, 1.12);
}

// Trend 2: many small tensors gain from batching, one huge one from parts and from no barrier.
TEST(Caramel, WhatEachKindOfModelGainsFrom) {
    const std::vector<std::string> none_of_them = {
        "system.transfers.caramel.batching=false",
        "system.transfers.caramel.pipelining=false",
        "system.transfers.caramel.smoothing=false",
        "system.transfers.caramel.compute_scheduling=false"};
    const auto with =
        [&](const std::string& model, const std::string& on, const std::string& more = "") {
            std::vector<std::string> settings = none_of_them;
            settings.push_back("system.transfers.caramel." + on + "=true");
            if (!more.empty()) {
                settings.push_back("system.transfers.caramel." + more + "=true");
            }
            return steady_ms(model, settings);
        };
    const double resnet = steady_ms("resnet50_10gbe", none_of_them);
    EXPECT_NEAR(resnet, 205.7, kTolerance * 205.7) << "none of the parts is wfbp";
    EXPECT_LT(with("resnet50_10gbe", "batching"), 0.6 * resnet);
    EXPECT_GT(with("resnet50_10gbe", "pipelining"), 0.99 * resnet);

    const double vgg = steady_ms("vgg16_10gbe", none_of_them);
    EXPECT_GT(with("vgg16_10gbe", "batching"), 0.95 * vgg);
    const double crossing = with("vgg16_10gbe", "compute_scheduling");
    // Transfers that come first go first, and the first layer's gradient is the last to come.
    EXPECT_LE(crossing, 1.001 * vgg);
    // With parts that let the urgent pass: far below.
    std::vector<std::string> parts = none_of_them;
    for (const char* part : {"pipelining", "smoothing", "compute_scheduling"}) {
        parts.push_back(std::string("system.transfers.caramel.") + part + "=true");
    }
    EXPECT_LT(steady_ms("vgg16_10gbe", parts), 0.85 * crossing);
}

// Trend 3: the gain over none is largest where batched communication is about as long as
// computation, and vanishes where there is little of it.
TEST(Caramel, TheGainPeaksWhereCommunicationAndComputationBalance) {
    const auto gain = [](int batch) {
        const std::string setting = fmt::format("workload.generate.batch={}", batch);
        return steady_ms("resnet152_10gbe", {policy("none"), setting}) /
               steady_ms("resnet152_10gbe", {setting});
    };
    const double balanced = gain(20);
    EXPECT_GT(balanced, gain(4));
    EXPECT_GT(balanced, gain(128));
    EXPECT_LT(gain(2000), 1.03);
}

// Trend 4: fine slicing costs a start a slice.
TEST(Caramel, FineSlicingHurtsWhereAStartIsDear) {
    const auto sliced = [](const std::string& study, const std::string& partition) {
        return steady_ms(study,
                         {policy("priority"), "system.transfers.priority.partition=" + partition});
    };
    EXPECT_GT(sliced("alexnet_10gbe", "256KiB"), 2 * sliced("alexnet_10gbe", "4MiB"));
    EXPECT_LT(sliced("vgg16_56gib", "4MiB"), 1.01 * sliced("vgg16_56gib", "64MiB"));
}

// Trend 5: the parameters that are read first have the smallest windows, the last ones nearly a
// whole iteration.
TEST(Caramel, WindowsGrowWithTheDepthOfTheLayer) {
    ConfigTree study = ConfigTree::parse_file(
        source_file("inputs/studies/caramel/resnet50_10gbe.yml"), FilePurpose::Study);
    Recording recording;
    recording.transfers = true;
    Simulation simulation(Study(std::move(study)), recording);
    simulation.run({});
    const RunResult result = simulation.result();
    ASSERT_EQ(result.windows.size(), 107U);
    const Duration whole = result.training.at(0).computation;
    for (std::size_t i = 0; i + 1 < result.windows.size(); ++i) {
        // In the order of their gradients: the last layer's first.
        const WindowRecord& deeper = result.windows[i];
        const WindowRecord& next = result.windows[i + 1];
        EXPECT_GE(deeper.free_end.ps - deeper.free_start.ps, next.free_end.ps - next.free_start.ps);
        // What every run keeps to.
        EXPECT_LE(deeper.ready, deeper.start);
        EXPECT_LT(deeper.start, deeper.end);
        EXPECT_LE(deeper.end, deeper.read);
    }
    const WindowRecord& first = result.windows.front();
    const WindowRecord& last = result.windows.back();
    // Backward from there on, and forward up to there: all but the last layer's own 3 computations.
    EXPECT_GT(first.free_end.ps - first.free_start.ps, whole.ps * 9 / 10);
    // The first layer is read as soon as the backward pass is over: no window at all.
    EXPECT_EQ(last.free_end, last.free_start);
}

TEST(Caramel, NoiseIsSeeded) {
    const auto time = [](const std::string& seed) {
        return steady_ms("resnet50_10gbe",
                         {"system.compute_noise.deviation=0.1",
                          "system.measured_noise.deviation=0.1",
                          "system.compute_noise.seed=" + seed,
                          "system.measured_noise.seed=" + seed});
    };
    EXPECT_EQ(time("1"), time("1"));
    EXPECT_NE(time("1"), time("2"));
    EXPECT_NEAR(time("1"), 101, 25);
}

std::string complaint(const std::string& assignment, const std::string& file) {
    const ProgramRun run = run_captured(Arguments{"run", file, "--set", assignment});
    EXPECT_EQ(run.status, 2) << assignment;
    return run.error;
}

TEST(Caramel, BadInputIsSaidPlainly) {
    const std::string study = source_file("inputs/studies/caramel/alexnet_10gbe.yml");
    EXPECT_THAT(complaint("system.transfers.policy=fussion", study), HasSubstr("fusion"));
    EXPECT_THAT(complaint("system.transfers.credit=64MiB", study),
                HasSubstr("a parameter of the policy priority, but the policy is caramel"));
    EXPECT_THAT(complaint("system.transfers.priority.credit=1MiB", study),
                HasSubstr("smaller than a partition"));
    EXPECT_THAT(complaint("system.transfers.fusion.buffer=0B", study), HasSubstr("above 0"));
    EXPECT_THAT(complaint("system.replay_only=true", study), HasSubstr("replay_only"));
    EXPECT_THAT(
        complaint("system.transfers.policy=fusion", source_file("inputs/studies/pipeline.yml")),
        HasSubstr("no gradient transfers"));
}

// Four layers of 100 us forward, as much for the input gradient of all but the first, for each
// weight gradient and for each transfer: 1.1 ms of computation. As recorded the gradient of the
// first layer is made last and waited for: 1.2 ms. With the input gradients first its weight
// gradient is there after 800 us, and the others come while computation goes on and the next
// iteration reads them.
TEST(Caramel, ReordersComputationWithGain) {
    EXPECT_NEAR(steady_ms("weight_gradients", {}), 1.1, 1e-9);
    EXPECT_NEAR(steady_ms("weight_gradients", {"system.transfers.policy=priority"}), 1.2, 1e-9);
    EXPECT_NEAR(steady_ms("weight_gradients", {"system.transfers.policy=wfbp"}), 1.2, 1e-9);
    EXPECT_NEAR(
        steady_ms("weight_gradients", {"system.transfers.caramel.compute_scheduling=false"}),
        1.2,
        1e-9);
}

}  // namespace
}  // namespace astra::test
