// Every study below inputs/ runs, and so do ASTRA-sim's files there.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/app/command.h"
#include "astra/app/result_files.h"
#include "astra/app/simulation.h"

namespace astra {
namespace {

const std::filesystem::path kInputs = std::filesystem::path(ASTRA_SOURCE_DIR) / "inputs";

std::vector<std::string> studies() {
    std::vector<std::string> files{(kInputs / "quickstart.yml").string()};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kInputs / "studies")) {
        if (entry.path().extension() == ".yml") {
            files.push_back(entry.path().string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

class Study : public testing::TestWithParam<std::string> {};

TEST_P(Study, RunsAndAddsUp) {
    Simulation simulation(ConfigTree::parse_file(GetParam()));
    ASSERT_TRUE(simulation.run({}));
    const RunResult result = simulation.result();
    EXPECT_GT(result.simulated.ps, 0U);
    EXPECT_THAT(result.warnings, testing::IsEmpty());
    for (const RankRecord& rank : result.ranks) {
        EXPECT_EQ(
            rank.compute.ps + rank.exposed_communication.ps + rank.exposed_memory.ps + rank.idle.ps,
            rank.finish.ps);
    }
}

INSTANTIATE_TEST_SUITE_P(Inputs,
                         Study,
                         testing::ValuesIn(studies()),
                         [](const testing::TestParamInfo<std::string>& study) {
                             return std::filesystem::path(study.param).stem().string();
                         });

// The pipeline of inputs/studies/pipeline.yml, GPipe with p = 4 stages and m = 8 microbatches.
// Forward: the last stage starts its first microbatch after 3 stages of 200 us and 3 transfers; a
// transfer of 8 MiB at 100 GB/s takes 83,886,080 ps and its link 1,000,000 ps. Backward likewise
// with 400 us. The slowest rank is the first: (m + p - 1)·(200 + 400) us of compute and 2·3
// transfers, none of which is hidden on the way of the first microbatch forward and of the last one
// backward.
TEST(Inputs, PipelineMeetsTheBubbleFormula) {
    Simulation simulation(ConfigTree::parse_file((kInputs / "studies/pipeline.yml").string()));
    ASSERT_TRUE(simulation.run({}));
    const std::uint64_t transfer = 83'886'080 + 1'000'000;
    EXPECT_EQ(simulation.result().simulated.ps, (8 + 3) * 600'000'000ULL + 6 * transfer);
}

TEST(Inputs, AstraSimFilesRunOnGeneratedTraces) {
    const std::string folder = testing::TempDir() + "astra_sim_inputs";
    std::filesystem::create_directories(folder);
    ASSERT_EQ(run_program({"generate",
                           "training",
                           "layers=3",
                           "bytes=1MiB",
                           "--ranks=8",
                           "--output=" + folder + "/trace"}),
              0);
    const std::string files = (kInputs / "astra-sim").string();
    EXPECT_EQ(run_program({"run",
                           "--workload-configuration=" + folder + "/trace",
                           "--system-configuration=" + files + "/system.json",
                           "--network-configuration=" + files + "/network.yml",
                           "--remote-memory-configuration=" + files + "/memory.json",
                           "--strict",
                           "--quiet",
                           "--output=" + folder}),
              0);
    EXPECT_TRUE(std::filesystem::exists(folder + "/result.json"));
}

}  // namespace
}  // namespace astra
