// The same input gives the same bytes, whatever else runs in the process.
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "astra/config/config_tree.h"
#include "astra/results/result_files.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

// Data-parallel training with noise over three dimensions.
std::string training_study(std::uint64_t seed, const std::string& backend) {
    return fmt::format(R"(
workload: {{generate: {{kind: training, layers: 6, bytes: 3MiB, iterations: 2}}}}
system:
  chunks: 5
  active_chunks: 2
  collectives: {{all_reduce: ring}}
  compute_noise: {{deviation: 0.1, seed: {}}}
network:
  backend: {}
  dimensions:
    - {{topology: ring, ranks: 4, bandwidth: 50GB/s, latency: 500ns}}
    - {{topology: fully_connected, ranks: 2, bandwidth: 25GB/s, latency: 700ns}}
    - {{topology: switch, ranks: 3, bandwidth: 12GB/s, latency: 2us}}
)",
                       seed,
                       backend);
}

ConfigTree study(std::uint64_t seed, const std::string& backend) {
    return ConfigTree::parse_text(training_study(seed, backend), "study.yml", ".");
}

std::string json_of(std::uint64_t seed, const std::string& backend) {
    Simulation simulation(Study(study(seed, backend)));
    EXPECT_TRUE(simulation.run({}));
    return result_json(simulation.result());
}

constexpr const char* kAware = "congestion_aware";
constexpr const char* kUnaware = "congestion_unaware";

TEST(Determinism, TwiceTheSame) {
    for (const char* backend : {kAware, kUnaware}) {
        EXPECT_EQ(json_of(1, backend), json_of(1, backend));
    }
}

TEST(Determinism, SeedOfTheNoise) {
    EXPECT_NE(json_of(1, kUnaware), json_of(2, kUnaware));
    const auto time = [](std::uint64_t seed) {
        return run_study(training_study(seed, kUnaware)).simulated;
    };
    EXPECT_EQ(time(7), time(7));
    EXPECT_NE(time(7), time(8));
}

// Every number called `seed` at any depth, with its path.
void collect_seeds(const nlohmann::json& node,
                   const std::string& path,
                   std::map<std::string, std::uint64_t>& seeds) {
    for (const auto& [key, value] : node.items()) {
        const std::string here = path.empty() ? key : path + "." + key;
        if (key == "seed") {
            seeds[here] = value.get<std::uint64_t>();
        }
        if (value.is_structured()) {
            collect_seeds(value, here, seeds);
        }
    }
}

// What a component reads as its seed is in the effective configuration, so that one which does not
// take the seed of all is seen there.
TEST(Determinism, OneSeedForEveryComponent) {
    ConfigTree tree = study(3, kAware);
    tree.set("background={rate: 1Gbps, size: 32KiB}");
    tree.set("network.bandwidth_noise=0.01");
    tree.set_seed(11);
    tree.set("system.measured_noise.seed=12");
    Simulation simulation(Study(std::move(tree)));
    EXPECT_TRUE(simulation.run({}));
    const auto result = nlohmann::json::parse(result_json(simulation.result()));
    std::map<std::string, std::uint64_t> seeds;
    collect_seeds(result.at("configuration"), "", seeds);
    EXPECT_EQ(seeds.count("system.measured_noise.seed"), 1U);
    EXPECT_GE(seeds.size(), 4U);
    for (const auto& [path, seed] : seeds) {
        EXPECT_EQ(seed, path == "system.measured_noise.seed" ? 12U : 11U) << path;
    }
}

// The second simulation runs from within the first one, between two slices of its events.
TEST(Determinism, OneInsideTheOther) {
    const std::string alone = json_of(1, kAware);
    const std::string other_alone = json_of(2, kUnaware);
    Simulation outer(Study(study(1, kAware)));
    Simulation inner(Study(study(2, kUnaware)));
    bool ran = false;
    EXPECT_TRUE(outer.run({}, [&](const RunProgress&) {
        ran = ran || inner.run({});
        return true;
    }));
    ASSERT_TRUE(ran);
    EXPECT_EQ(result_json(outer.result()), alone);
    EXPECT_EQ(result_json(inner.result()), other_alone);
}

TEST(Determinism, TwoThreads) {
    const std::string first = json_of(1, kAware);
    const std::string second = json_of(2, kUnaware);
    std::string in_thread;
    std::thread thread([&] { in_thread = json_of(1, kAware); });
    const std::string beside = json_of(2, kUnaware);
    thread.join();
    EXPECT_EQ(in_thread, first);
    EXPECT_EQ(beside, second);
}

std::string job(const char* name, const char* ranks, const char* start) {
    return fmt::format(
        "  - {{name: {}, ranks: [{}], start: {}, workload: {{generate: {{kind: collective, bytes: "
        "1MiB}}}}}}\n",
        name,
        ranks,
        start);
}

std::string with_jobs(const std::string& jobs) {
    return "jobs:\n" + jobs + R"(
system: {endpoint_delay: 0ns, collectives: {all_reduce: ring}}
network: {dimensions: [{topology: fully_connected, ranks: 8, bandwidth: 50GB/s, latency: 500ns}]}
)";
}

// Each job is a ring of four: 6(L + S/4B) = 34,457.28 ns after its start.
TEST(Jobs, StartWhenTheyAreToldTo) {
    const RunResult result =
        run_study(with_jobs(job("a", "0-3", "0ns") + job("b", "4-7", "100us")));
    constexpr std::uint64_t time = 34'457'280;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(rank_record(result, rank).finish.ps, time);
        EXPECT_EQ(rank_record(result, rank + 4).finish.ps, 100'000'000 + time);
    }
    ASSERT_EQ(result.collectives.size(), 2U);
    EXPECT_TRUE(result.collectives[0].group.starts_with("a/"));
    EXPECT_TRUE(result.collectives[1].group.starts_with("b/"));
    EXPECT_EQ(result.collectives[1].start.ps, 100'000'000U);
}

// A job finishes at the same time with and without another on other ranks, here interleaved with
// its own.
TEST(Jobs, DoNotDisturbEachOtherOnOwnLinks) {
    const RunResult both =
        run_study(with_jobs(job("a", "0, 2, 4, 6", "0ns") + job("b", "7, 5, 3, 1", "3us")));
    const RunResult alone = run_study(with_jobs(job("a", "0, 2, 4, 6", "0ns")));
    EXPECT_EQ(alone.ranks.size(), 4U);
    for (const std::uint32_t rank : {0U, 2U, 4U, 6U}) {
        EXPECT_EQ(rank_record(both, rank).finish, rank_record(alone, rank).finish);
    }
}

}  // namespace
}  // namespace astra::test
