// `astra inspect windows`, and the keys of a study that ask for iterations and windows.
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/experiment.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

class InspectWindows : public testing::Test {
  protected:
    // A study of two layers on two ranks whose all-reduces take 50 us.
    std::string study(const std::string& workload) const {
        const std::string file = folder_.file("study.yml");
        std::ofstream(file) << "workload: {generate: {kind: training, layers: 2}" << workload
                            << "}\n"
                               "system: {collectives: {all_reduce: measured}, measured: "
                               "{all_reduce: {alpha: 50us, beta: 1000000TB/s}}}\n"
                               "network: {dimensions: [{topology: switch, ranks: 2, bandwidth: "
                               "1GB/s}]}\n";
        return file;
    }
    static std::string content(const std::string& file) {
        std::ifstream stream(file);
        std::ostringstream text;
        text << stream.rdbuf();
        return text.str();
    }
    ScratchFolder folder_;
};

// 400 to 700 us for layer 1, and at 600 us sharp for layer 0:
// tests/workload/training/training_test.cpp. 4 MiB at 1 EB/s are 4.2 ps, rounded up.
TEST_F(InspectWindows, ListsTransfersAndWritesThem) {
    const ProgramRun run = run_captured({"inspect",
                                         "windows",
                                         study(", iteration_barrier: false"),
                                         "--csv=" + folder_.file("w.csv"),
                                         "--svg=" + folder_.file("w.svg")});
    EXPECT_EQ(run.status, 0) << run.error;
    EXPECT_THAT(run.out, HasSubstr("iterations       1 in the trace (no op marks one"));
    EXPECT_THAT(run.out, HasSubstr("1 simulated, without a barrier"));
    EXPECT_THAT(run.out, HasSubstr("computation      600 us an iteration"));
    EXPECT_THAT(run.out, HasSubstr("backward_1 -> forward_1"));
    EXPECT_THAT(content(folder_.file("w.csv")),
                HasSubstr("0,\"0\",1,\"all_reduce_0\",\"0\",all_reduce,4194304,\"backward_0\","
                          "\"forward_0\",600000000,600000000,0,50000005,-50000005\n"));
    EXPECT_THAT(content(folder_.file("w.svg")), HasSubstr("</svg>"));
}

TEST_F(InspectWindows, LooksForThemWhateverTheStudyAsks) {
    const ProgramRun run = run_captured({"inspect", "windows", study("")});
    EXPECT_EQ(run.status, 0) << run.error;
    EXPECT_THAT(run.out, HasSubstr("with a barrier between them"));
}

// 600 us of computation and the all-reduce of the first layer at its end: 650 us an iteration. The
// other one hides: it is done at 450 us.
TEST_F(InspectWindows, IterationsAreReplayed) {
    const ProgramRun run = run_captured(
        {"run", study(", iterations: 4"), "--output=" + folder_.file("out"), "--quiet"});
    EXPECT_EQ(run.status, 0) << run.error;
    EXPECT_THAT(content(folder_.file("out/result.json")),
                HasSubstr("\"simulated_ps\": 2600000020"));
}

TEST_F(InspectWindows, SaysWhatIsWrong) {
    const auto error = [&](const std::string& workload) {
        const ProgramRun run = run_captured({"run", study(workload)});
        EXPECT_EQ(run.status, 2) << workload;
        return run.error;
    };
    EXPECT_THAT(error(", iterations: 0"), HasSubstr("study.yml:1:"));
    EXPECT_THAT(error(", iterations: 0"), HasSubstr("workload.iterations"));
    EXPECT_THAT(error(", iterations: 99999999999"), HasSubstr("workload.iterations"));
    EXPECT_THAT(error(", iterations: 1000000, iteration_barrier: updat_0"),
                HasSubstr("no op is called 'updat_0', which is to end an iteration; did you mean "
                          "'update_0'?"));
    EXPECT_THAT(error(", training_rules: nowhere.yml"), HasSubstr("nowhere.yml"));
    EXPECT_THAT(error(", iteration_barier: true"), HasSubstr("did you mean 'iteration_barrier'?"));
    const ProgramRun none =
        run_captured({"inspect", "windows", study(""), "--set=workload.generate={kind: compute}"});
    EXPECT_EQ(none.status, 2);
    EXPECT_THAT(none.error,
                HasSubstr("workload: no gradient transfers: the traces hold no collective at all"));
}

TEST_F(InspectWindows, KnowsItsOptions) {
    EXPECT_EQ(run_captured({"inspect", "windows", "--help"}).status, 0);
    EXPECT_EQ(run_captured({"inspect", "windows"}).status, 2);
    EXPECT_THAT(run_captured({"inspect", "--strict", "windows"}).error, HasSubstr("--strict"));
    EXPECT_THAT(run_captured({"inspect", "window"}).error, HasSubstr("'windows'"));
}

}  // namespace
}  // namespace astra::test
