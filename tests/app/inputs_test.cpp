// Every study below inputs/ runs, and so do ASTRA-sim's files there. Fabrics run on every backend
// whose messages share links, under every transport.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/app/command.h"
#include "astra/config/config_tree.h"
#include "astra/results/result_files.h"
#include "astra/simulation/simulation.h"
#include "network/topology/topology.h"
#include "network/topology/topology_reader.h"
#include "tests/support/experiment.h"
#include "tests/support/network_models.h"

namespace astra {
namespace {

const std::filesystem::path kInputs = std::filesystem::path(ASTRA_SOURCE_DIR) / "inputs";

std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kInputs / folder)) {
        // What is in a folder graphs is no study, but named by one.
        if (entry.path().extension() == ".yml" &&
            entry.path().parent_path().filename() != "graphs") {
            files.push_back(entry.path().string());
        }
    }
    std::sort(files.begin(), files.end());
    return files;
}

bool has_workload(const std::string& file) {
    const ConfigTree study = ConfigTree::parse_file(file, FilePurpose::Study);
    return study.root().has("workload") || study.root().has("jobs");
}

std::vector<std::string> studies() {
    std::vector<std::string> files = files_in("studies");
    std::erase_if(files, [](const std::string& file) { return !has_workload(file); });
    files.push_back((kInputs / "quickstart.yml").string());
    return files;
}

std::vector<std::string> studies_without_workload() {
    std::vector<std::string> files = files_in("studies");
    std::erase_if(files, has_workload);
    return files;
}

std::string stem(const std::string& file) {
    return std::filesystem::path(file).stem().string();
}

class StudyFile : public testing::TestWithParam<std::string> {};

TEST_P(StudyFile, RunsAndAddsUp) {
    Simulation simulation(Study::from_file(GetParam()));
    ASSERT_TRUE(simulation.run({}));
    const RunResult result = simulation.result();
    EXPECT_GT(result.simulated.ps, 0U);
    EXPECT_THAT(result.warnings, testing::IsEmpty());
    for (const RankRecord& rank : result.ranks) {
        EXPECT_EQ(rank.compute.ps + rank.exposed_communication.ps + rank.waiting.ps +
                      rank.exposed_memory.ps + rank.idle.ps,
                  rank.finish.ps);
    }
}

INSTANTIATE_TEST_SUITE_P(Inputs,
                         StudyFile,
                         testing::ValuesIn(studies()),
                         [](const testing::TestParamInfo<std::string>& study) {
                             return stem(study.param);
                         });

// A file and a model of the network.
class Fabric : public testing::TestWithParam<std::tuple<std::string, test::NetworkModel>> {
  public:
    static std::string name(const testing::TestParamInfo<ParamType>& info) {
        return stem(std::get<0>(info.param)) + "_" + std::get<1>(info.param).name();
    }

  protected:
    const std::string& file() const { return std::get<0>(GetParam()); }
    const test::NetworkModel& model() const { return std::get<1>(GetParam()); }
    // Options of a command; `set` where it knows no others.
    Arguments options(bool set) const {
        Arguments options = {(set ? "--set=network.backend=" : "--backend=") +
                             std::string(model().backend->name)};
        if (!model().transport.empty()) {
            options.push_back((set ? "--set=network.packet.transport=" : "--transport=") +
                              model().transport);
        }
        return options;
    }
};

std::vector<test::NetworkModel> models_that_share() {
    std::vector<test::NetworkModel> models = test::network_models();
    std::erase_if(models,
                  [](const test::NetworkModel& model) { return !model.backend->shares_links(); });
    return models;
}

// With packets a smaller collective, to take less than a second.
TEST_P(Fabric, Runs) {
    ConfigTree study = ConfigTree::parse_file(file(), FilePurpose::Study);
    study.set("network.backend=" + std::string(model().backend->name));
    if (model().backend->has_packets()) {
        study.set("network.packet.transport=" + model().transport);
        study.set("workload.generate.bytes=1MiB");
    }
    Simulation simulation(Study(std::move(study)));
    ASSERT_TRUE(simulation.run({}));
    const RunResult result = simulation.result();
    EXPECT_GT(result.simulated.ps, 0U);
    EXPECT_GT(result.counts.messages, 0U);
    EXPECT_THAT(result.warnings, testing::IsEmpty());
}

TEST_P(Fabric, IsDescribed) {
    Arguments arguments = {"inspect", "network", file()};
    const Arguments more = options(true);
    arguments.insert(arguments.end(), more.begin(), more.end());
    const test::ProgramRun run = test::run_captured(arguments);
    EXPECT_EQ(run.status, 0) << run.error;
    EXPECT_THAT(run.out, testing::HasSubstr("cut pairs        none"));
}

INSTANTIATE_TEST_SUITE_P(Topologies,
                         Fabric,
                         testing::Combine(testing::ValuesIn(files_in("topologies")),
                                          testing::ValuesIn(models_that_share())),
                         Fabric::name);

// A study without a workload, to be given a flow set. Here every rank sends to the next one.
class BareFabric : public Fabric {};

TEST_P(BareFabric, RunsAFlowSet) {
    const ConfigTree study = ConfigTree::parse_file(file(), FilePurpose::Study);
    const test::ScratchFolder folder;
    const std::uint32_t ranks = read_topology(study.root().at("network")).ranks();
    std::ofstream flows(folder.file("ring.flows"));
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        flows << rank + 1 << ' ' << rank << ' ' << (rank + 1) % ranks << " 65536 0\n";
    }
    flows.close();
    Arguments arguments = {
        "run", file(), "--flows=" + folder.file("ring.flows"), "--output=" + folder.path()};
    const Arguments more = options(false);
    arguments.insert(arguments.end(), more.begin(), more.end());
    const test::ProgramRun run = test::run_captured(arguments);
    EXPECT_EQ(run.status, 0) << run.error;
    // They have keys for the backend packet, and are run on all.
    std::istringstream warnings(run.error);
    for (std::string line; std::getline(warnings, line);) {
        EXPECT_THAT(line, testing::HasSubstr("no effect"));
    }
    EXPECT_THAT(run.out, testing::HasSubstr("flows            " + std::to_string(ranks) + ","));
}

INSTANTIATE_TEST_SUITE_P(Studies,
                         BareFabric,
                         testing::Combine(testing::ValuesIn(studies_without_workload()),
                                          testing::ValuesIn(models_that_share())),
                         Fabric::name);

// The pipeline of inputs/studies/pipeline.yml, GPipe with p = 4 stages and m = 8 microbatches.
// Forward: the last stage starts its first microbatch after 3 stages of 200 us and 3 transfers; a
// transfer of 8 MiB at 100 GB/s takes 83,886,080 ps and its link 1,000,000 ps. Backward likewise
// with 400 us. The slowest rank is the first: (m + p - 1)·(200 + 400) us of compute and 2·3
// transfers, none of which is hidden on the way of the first microbatch forward and of the last one
// backward.
TEST(Inputs, PipelineMeetsTheBubbleFormula) {
    Simulation simulation(Study::from_file((kInputs / "studies/pipeline.yml").string()));
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
