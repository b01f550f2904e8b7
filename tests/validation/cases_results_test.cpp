// Cases 37 to 47: empty sizes, other collectives, metrics and outputs.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "astra/results/result_files.h"
#include "tests/validation/case_check.h"

namespace astra::test {
namespace {

// Latency only: 14·L.
TEST(Case37, EmptyAllReduce) {
    expect_both_units(r8_all_reduce(0), 7000, 7000);
}

TEST(Case37, EmptyMessage) {
    for (const char* backend : {kUnaware, kAware}) {
        Experiment experiment = on({switched(2)}, {});
        experiment.backend = backend;
        experiment.traces = {{send(1, 0, 1, 0, 0)}, {receive(1, 0, 1, 0, 0)}};
        expect_both_units(experiment, 1000, 1000);
    }
}

TEST(Case38, Barrier) {
    Experiment experiment = on({switched(4)}, {});
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        experiment.traces[rank] = {compute(1, 5 * rank),
                                   collective(2, CollectiveKind::Barrier, 0, {1})};
    }
    const FinishRange got = finish_range(run(experiment));
    EXPECT_EQ(got.earliest_ps, got.latest_ps) << "all leave at the same time";
    EXPECT_GE(got.earliest_ps, 15'000'000U);
    EXPECT_LE(got.latest_ps, 15'000'000U + 2 * 2 * 2 * 500'000);
    // Dissemination: two rounds of a message over two links, after the last one has come.
    EXPECT_EQ(got.latest_ps, 15'000'000U + 2 * 2 * 500'000);
}

// Two rounds of L + S/B.
TEST(Case39, Broadcast) {
    for (const std::uint32_t root : {0U, 2U}) {
        TraceNode node = collective(1, CollectiveKind::Broadcast, kMiB);
        node.source = root;
        Experiment experiment = on({connected(4)}, {node});
        for (const auto& [unit, ns] : {std::pair{"GB", 42943.04}, std::pair{"GiB", 40062.5}}) {
            experiment.network_unit = unit;
            const RunResult result = run(experiment);
            EXPECT_NEAR(static_cast<double>(result.simulated.ps) / 1e3, ns, 0.03);
            EXPECT_EQ(result.counts.message_bytes, 3 * kMiB);
            for (const LinkRecord& link : result.links) {
                EXPECT_NE(link.to, std::to_string(root)) << "nothing is sent to the root";
            }
        }
    }
}

// Up the same tree: two rounds of L + S/B, and nothing comes from the root.
TEST(Case39, Reduce) {
    for (const std::uint32_t root : {0U, 3U}) {
        TraceNode node = collective(1, CollectiveKind::Reduce, kMiB);
        node.source = root;
        Experiment experiment = on({connected(4)}, {node});
        for (const auto& [unit, ns] : {std::pair{"GB", 42943.04}, std::pair{"GiB", 40062.5}}) {
            experiment.network_unit = unit;
            const RunResult result = run(experiment);
            EXPECT_NEAR(static_cast<double>(result.simulated.ps) / 1e3, ns, 0.03);
            EXPECT_EQ(result.counts.message_bytes, 3 * kMiB);
            for (const LinkRecord& link : result.links) {
                EXPECT_NE(link.from, std::to_string(root)) << "nothing comes from the root";
            }
        }
    }
}

// comm_size is the part of one rank. The longest way carries two parts and then one, or one and
// then two: 2L + 3S/B. A tree hands every part but the root's on: one of a neighbour once, one of a
// rank two rounds away twice, four in all.
TEST(Case39, GatherAndScatter) {
    for (const CollectiveKind kind : {CollectiveKind::Gather, CollectiveKind::Scatter}) {
        for (const std::uint32_t root : {0U, 2U}) {
            TraceNode node = collective(1, kind, kMiB);
            node.source = root;
            Experiment experiment = on({connected(4)}, {node});
            for (const auto& [unit, ns] : {std::pair{"GB", 63914.56}, std::pair{"GiB", 59593.75}}) {
                experiment.network_unit = unit;
                const RunResult result = run(experiment);
                EXPECT_NEAR(static_cast<double>(result.simulated.ps) / 1e3, ns, 0.03);
                EXPECT_EQ(result.counts.message_bytes, 4 * kMiB);
            }
        }
    }
}

TEST(Case41, HalfTheBandwidthDoublesTheWire) {
    const RunResult whole = run(r8_all_reduce());
    Experiment experiment = r8_all_reduce();
    experiment.dimensions[0].bandwidth = 25;
    const RunResult half = run(experiment);
    const double latency = 14 * 500'000;
    EXPECT_NEAR(static_cast<double>(half.simulated.ps) - latency,
                2 * (static_cast<double>(whole.simulated.ps) - latency),
                14.0);
}

TEST(Case41, NothingCommunicated) {
    const ProgramRun program = run_captured(r8({compute(1, 5)}));
    EXPECT_EQ(program.status, 0);
    EXPECT_THAT(program.error, testing::HasSubstr("astra: warning: no communication"));
    EXPECT_THAT(program.error, testing::HasSubstr("skipped"));
}

TEST(Case41, ConfigurationIsEchoed) {
    Experiment experiment = r8_all_reduce();
    const std::string system = system_json(experiment);
    experiment.files["system.json"] = "{\"boost-mode\": 1," + system.substr(1);
    const ProgramRun program = run_captured(experiment);
    EXPECT_EQ(program.status, 0);
    EXPECT_THAT(program.error, testing::HasSubstr("boost-mode"));
    const RunResult result = run(experiment);
    for (const char* key : {"endpoint_delay", "chunks", "active_chunks", "backend", "latency"}) {
        EXPECT_THAT(result.configuration, testing::HasSubstr(key));
    }
}

Experiment two_speeds() {
    return on({{"Ring", 4, 50, 500'000}, {"Ring", 2, 25, 500'000}},
              {collective(1, CollectiveKind::AllReduce, kMiB)});
}

// 8·L + 2(3/4)·S/50 + 2(1/8)·S/25.
TEST(Case42, BothDimensionsAreCrossed) {
    expect_both_units(two_speeds(), 45943.04, 43062.50);
}

TEST(Case42, MisspeltConfiguration) {
    Experiment experiment = two_speeds();
    experiment.algorithms = {"rung"};
    expect_failure(run_captured(experiment), 2, {"rung", "'ring'", "system.json"});
    experiment = two_speeds();
    std::string network = network_yaml(experiment);
    network.replace(network.find("bandwidth"), 9, "bandwith");
    experiment.files["network.yml"] = network;
    expect_failure(run_captured(experiment), 2, {"bandwith", "bandwidth", "network.yml"});
    experiment = two_speeds();
    std::string system = system_json(experiment);
    system.replace(system.find("[\"ring\", \"ring\"]"), 16, "[\"ring\"]");
    experiment.files["system.json"] = system;
    expect_failure(run_captured(experiment), 2, {"all-reduce-implementation", "system.json"});
}

TEST(Case44, Roofline) {
    Experiment experiment = on({ring(2)}, {});
    experiment.memory_bandwidth = 1000;
    experiment.peak_tflops = 100;
    experiment.roofline = true;
    const auto nanoseconds = [&](const TraceNode& node) {
        experiment.traces = everywhere(2, {node});
        return run(experiment).simulated.ps / 1000;
    };
    EXPECT_EQ(nanoseconds(roofline_compute(1, 1'000'000'000'000, 1'000'000'000)), 10'000'000U);
    EXPECT_EQ(nanoseconds(roofline_compute(1, 1'000'000'000, 1'000'000'000)), 1'000'000U);
    EXPECT_EQ(nanoseconds(compute(1, 3)), 3'000U);
    experiment.traces = everywhere(2, {compute(1, 0)});
    EXPECT_EQ(run(experiment).counts.ops_without_duration, 2U);
}

TEST(Case47, UnwritableOutput) {
    const ScratchFolder folder;
    const std::string below = folder.write("file", "") + "/out";
    const ProgramRun program = run_captured(r8_all_reduce(), {"--output=" + below});
    expect_failure(program, 2, {below.c_str()});
    EXPECT_EQ(program.out, "");
}

TEST(Case47, OutputsAreFilledOrAbsent) {
    const ScratchFolder folder;
    const std::string out = folder.file("out");
    ASSERT_EQ(run_captured(r8_all_reduce(), {"--output=" + out}).status, 0);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(out)) {
        ++files;
        EXPECT_GT(entry.file_size(), 0U) << entry.path();
        if (entry.path().extension() == ".csv") {
            std::ifstream in(entry.path());
            std::string header;
            std::getline(in, header);
            EXPECT_THAT(header, testing::HasSubstr("_ps")) << entry.path();
        }
    }
    EXPECT_EQ(files, 4U);
    const std::string compute_only = folder.file("compute_only");
    ASSERT_EQ(run_captured(r8({compute(1, 5)}), {"--output=" + compute_only}).status, 0);
    EXPECT_FALSE(std::filesystem::exists(compute_only + "/links.csv"));
    EXPECT_FALSE(std::filesystem::exists(compute_only + "/collectives.csv"));
    EXPECT_TRUE(std::filesystem::exists(compute_only + "/ranks.csv"));
}

TEST(Case47, ResultFile) {
    const ScratchFolder folder;
    Experiment experiment = r8_all_reduce();
    experiment.endpoint_delay_ns = 10;
    experiment.memory_bandwidth = 1600;
    ASSERT_EQ(run_captured(experiment, {"--output=" + folder.file("out")}).status, 0);
    std::ifstream in(folder.file("out/result.json"));
    std::stringstream text;
    text << in.rdbuf();
    // 15·10,000 + 14·(500,000 + 2,441,407) + 7·245,760.
    for (const char* part : {"\"schema\": 2",
                             "\"simulated_ps\": 43050018",
                             "\"backend\": \"congestion_unaware\"",
                             "\"finish_ps\": 43050018",
                             "\"exposed_communication_ps\": 43050018",
                             "\"waiting_ps\": 0",
                             "\"group\": \"0\"",
                             "\"kind\": \"all_reduce\"",
                             "\"algorithm\": \"ring\"",
                             "\"bytes\": 1048576",
                             "\"end_ps\": 43050018",
                             "\"bytes\": 1835008",
                             "\"busy_ps\": 34179698",
                             "\"ops\": 8",
                             "\"skipped_ops\": 0",
                             "\"messages\": 112"}) {
        EXPECT_THAT(text.str(), testing::HasSubstr(part));
    }
    EXPECT_THAT(text.str(), testing::Not(testing::HasSubstr(folder.path())));
}

}  // namespace
}  // namespace astra::test
