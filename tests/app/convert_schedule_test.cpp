// `astra convert --schedule`: the schedule of a policy, written out as a trace, replayed.
#include <cmath>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/experiment.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

// Six layers whose transfers take 400 us + 42 us each, beside 300 us of computation: merging gains.
constexpr const char* kSystem =
    "system: {collectives: {all_reduce: measured}, measured: {all_reduce: {alpha: 400us, beta: "
    "100GB/s}}}\n"
    "network: {dimensions: [{topology: switch, ranks: 4, bandwidth: 1GB/s}]}\n";

class ConvertSchedule : public testing::Test {
  protected:
    std::string study(const std::string& name, const std::string& workload) const {
        const std::string file = folder_.file(name);
        std::ofstream(file) << "workload: {" << workload << "}\n" << kSystem;
        return file;
    }
    std::string training() const {
        return study("online.yml",
                     "generate: {kind: training, layers: 6, forward: 100us, backward: 200us, "
                     "bytes: 4MiB}, iterations: 5");
    }
    double simulated_ps(const std::string& file, const std::string& policy) const {
        const ProgramRun run = run_captured({"run",
                                             file,
                                             "--set=system.transfers.policy=" + policy,
                                             "--output=" + folder_.file("out"),
                                             "--quiet"});
        EXPECT_EQ(run.status, 0) << run.error;
        std::ifstream stream(folder_.file("out/result.json"));
        return nlohmann::json::parse(stream)["simulated_ps"].get<double>();
    }
    ScratchFolder folder_;
};

// The written trace holds the merged transfers and their order, and takes the time of the run, to
// half a percent, with no policy at all.
TEST_F(ConvertSchedule, ReplaysInTheTimeOfTheRun) {
    for (const std::string policy : {"caramel", "mg-wfbp", "priority"}) {
        const std::string online = training();
        const ProgramRun run = run_captured(
            {"convert", online, "--schedule=" + policy, "--output=" + folder_.file("t")});
        ASSERT_EQ(run.status, 0) << run.error;
        EXPECT_THAT(run.out, HasSubstr("wrote 4 traces"));
        const std::string offline = study("offline.yml", "trace: t, groups: t.groups.json");
        const double online_ps = simulated_ps(online, policy);
        const double offline_ps = simulated_ps(offline, "trace");
        EXPECT_NEAR(offline_ps / online_ps, 1, 0.005) << policy;
        if (policy != "priority") {  // its partitions pay the 400 us twice a layer
            EXPECT_LT(offline_ps, 0.95 * simulated_ps(online, "wfbp")) << policy;
        }
    }
}

// Traces in place of a study: the network is alpha and beta.
TEST_F(ConvertSchedule, TakesTracesAndWhatATransferCosts) {
    const std::string prefix = folder_.file("one");
    ASSERT_EQ(run_captured({"generate", "training", "layers=3", "--ranks=2", "--output=" + prefix})
                  .status,
              0);
    const ProgramRun run = run_captured({"convert",
                                         prefix,
                                         "--schedule=caramel",
                                         "--iterations=3",
                                         "--alpha=100us",
                                         "--beta=10Gbps",
                                         "--output=" + folder_.file("new/t")});
    ASSERT_EQ(run.status, 0) << run.error;
    const ProgramRun inspected = run_captured({"inspect", "trace", folder_.file("new/t")});
    EXPECT_EQ(inspected.status, 0) << inspected.error;
    EXPECT_THAT(inspected.out, HasSubstr("contradictions   none"));
}

TEST_F(ConvertSchedule, SaysWhatIsWrong) {
    const auto error = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments = {"convert"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ProgramRun run = run_captured(arguments);
        EXPECT_EQ(run.status, 2);
        return run.error;
    };
    const std::string output = "--output=" + folder_.file("t");
    EXPECT_THAT(error({"nowhere", "--schedule=caramel", output}),
                HasSubstr("'nowhere' is neither a study nor the prefix of traces"));
    EXPECT_THAT(error({training(), "--schedule=caramle", output}), HasSubstr("caramel"));
    EXPECT_THAT(error({study("c.yml", "generate: {kind: compute}"), "--schedule=caramel", output}),
                HasSubstr("no gradient transfers: the traces hold no collective"));
    ASSERT_EQ(
        run_captured({"generate", "training", "--ranks=2", "--output=" + folder_.file("g")}).status,
        0);
    EXPECT_THAT(error({folder_.file("g"), "--schedule=caramel", output}),
                HasSubstr("needs --alpha and --beta"));
    EXPECT_THAT(
        error({folder_.file("g"), "--schedule=caramel", "--alpha=1", "--beta=1Gbps", output}),
        HasSubstr("--alpha: '1' is not a time"));
}

}  // namespace
}  // namespace astra::test
