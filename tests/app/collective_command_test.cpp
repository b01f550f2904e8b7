// `astra collective`: the table, the files, and what is refused.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/app/collective/collective_table.h"
#include "astra/app/collective/measured_times.h"
#include "astra/core/error.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

// Ring of 8 at 50 GB/s and 500 ns, no endpoint delay.
constexpr const char* kMachine =
    "system: {endpoint_delay: 0ns}\n"
    "network: {dimensions: [{topology: ring, ranks: 8, bandwidth: 50GB/s, latency: 500ns}]}\n";

std::string content(const std::string& file) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

class CollectiveCommand : public testing::Test {
  protected:
    ProgramRun run(std::vector<std::string> options) {
        const std::string machine = folder_.write("machine.yml", kMachine);
        options.insert(options.begin(), {"collective", machine});
        return run_captured(options);
    }
    ScratchFolder folder_;
};

// A ring all-reduce of 1 MiB takes 14·(500 ns + 131,072 · 20 ps) = 43,700.16 ns (case 1);
// all_gather and reduce_scatter of a buffer of 1 MiB half of it. algbw = 1,048,576 / 43,700.16
// = 23.995 GB/s, busbw 2·7/8 of that (case 3).
TEST_F(CollectiveCommand, MeetsTheClosedFormOfARing) {
    const std::string csv = folder_.file("out.csv");
    const ProgramRun ran = run({"--collective=all_reduce,all_gather,reduce_scatter",
                                "--algorithm=ring",
                                "--size=1MiB",
                                "--csv=" + csv,
                                "--json=" + folder_.file("out.json")});
    EXPECT_EQ(ran.status, 0) << ran.error;
    EXPECT_EQ(content(csv),
              "collective,algorithm,ranks,bytes,time_ps,algbw_GBps,busbw_GBps,picked,beyond_links\n"
              "all_reduce,ring,8,1048576,43700160,23.994786,41.990876,ring,false\n"
              "all_gather,ring,8,1048576,21850080,47.989573,41.990876,ring,false\n"
              "reduce_scatter,ring,8,1048576,21850080,47.989573,41.990876,ring,false\n");
    EXPECT_THAT(content(folder_.file("out.json")),
                HasSubstr(R"({"collective": "all_reduce", "algorithm": "ring", "ranks": 8, )"
                          R"("bytes": 1048576, "time_ps": 43700160, "algbw_GBps": 23.994786, )"
                          R"("busbw_GBps": 41.990876, "picked": "ring", "beyond_links": false})"));
    EXPECT_THAT(ran.out, HasSubstr("43.70    23.99    41.99*"));
}

// Sizes by factor, sorted, without doubles; an algorithm that cannot do a kind is named below.
TEST_F(CollectiveCommand, SizesAndRefusals) {
    const std::string csv = folder_.file("out.csv");
    const ProgramRun ran = run({"--collective=all_to_all",
                                "--algorithm=direct,doubleBinaryTree",
                                "--size=1MiB,1KiB:1MiB:x32",
                                "--csv=" + csv});
    EXPECT_EQ(ran.status, 0) << ran.error;
    EXPECT_THAT(content(csv), HasSubstr("all_to_all,direct,8,1024,"));
    EXPECT_THAT(content(csv), HasSubstr("all_to_all,direct,8,32768,"));
    EXPECT_THAT(content(csv), testing::Not(HasSubstr("doubleBinaryTree")));
    // The reason, without a place that the user did not write.
    EXPECT_THAT(
        ran.out,
        HasSubstr("# doubleBinaryTree: algorithm 'doubleBinaryTree' cannot run all_to_all"));
    EXPECT_THAT(ran.out, testing::Not(HasSubstr("--set")));
}

TEST_F(CollectiveCommand, OnSomeRanksAndAnotherBackend) {
    const std::string csv = folder_.file("out.csv");
    const ProgramRun ran = run({"--algorithm=ring",
                                "--size=1MiB",
                                "--ranks=0-3",
                                "--backend=flow",
                                "--quiet",
                                "--csv=" + csv});
    EXPECT_EQ(ran.status, 0) << ran.error;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(content(csv), HasSubstr("all_reduce,ring,4,1048576,"));
}

// 41.99 simulated beside 40 measured: +5.0 %.
TEST_F(CollectiveCommand, ComparesWithWhatWasMeasured) {
    const std::string measured =
        folder_.write("measured.csv", "# a comment\nbytes,a,b\n1048576,80,40\n2097152,1,1\n");
    const ProgramRun ran = run({"--algorithm=ring", "--size=1MiB", "--compare=" + measured + ":b"});
    EXPECT_EQ(ran.status, 0) << ran.error;
    EXPECT_THAT(ran.out, HasSubstr("40.00   +5.0%"));
    EXPECT_THAT(ran.out,
                HasSubstr("mean absolute error of the bus bandwidth: 4.98 % over 1 sizes"));
}

TEST_F(CollectiveCommand, SaysWhatAutoPicked) {
    const ProgramRun ran = run({"--algorithm=auto,ring", "--size=1KiB,64MiB"});
    EXPECT_EQ(ran.status, 0) << ran.error;
    EXPECT_THAT(ran.out, HasSubstr("\n# auto: "));
    EXPECT_THAT(ran.out, HasSubstr(" to 67108864 B\n"));
    EXPECT_THAT(ran.out, testing::Not(HasSubstr("\n# ring: ")));
}

TEST_F(CollectiveCommand, BadInputIsRefused) {
    const auto refused = [&](const std::vector<std::string>& options, const std::string& part) {
        const ProgramRun ran = run(options);
        EXPECT_EQ(ran.status, 2);
        EXPECT_THAT(ran.error, HasSubstr(part));
    };
    refused({"--collective=all_reduc"}, "did you mean 'all_reduce'");
    refused({"--algorithm=rung"}, "--algorithm: unknown algorithm 'rung'; did you mean 'ring'");
    refused({"--algorithm=hierarchical2:rung"}, "unknown algorithm 'rung'; did you mean 'ring'");
    refused({"--algorithm=flat,hierarchical3"}, "none of flat,hierarchical3 can run all_reduce:\n");
    refused({"--algorithm=flat,hierarchical3"}, "groups of 3 do not divide them");
    refused({"--algorithm=measured"},
            "--algorithm: system.collectives.all_reduce: 'measured' needs");
    refused({"--size=0B"}, "'0B'");
    refused({"--size=12"}, "'12'");
    refused({"--size=1KiB:1MiB"}, "FROM:TO:xFACTOR");
    refused({"--size=1KiB:1MiB:x1"}, "FROM:TO:xFACTOR");
    refused({"--size=1MiB:1KiB:x2"}, "backwards");
    refused({"--ranks=0-9", "--size=1KiB"}, "0-9");
    refused({"--compare=/no/such/file"}, "/no/such/file");
    const std::string broken = folder_.write("broken.csv", "bytes,a\n1024\n");
    refused({"--compare=" + broken}, "broken.csv:2: 1 fields; the header has 2");
    const std::string row = folder_.write("row.txt", "# nccl\n1024 256 float sum -1 30.1 0.03\n");
    refused({"--compare=" + row}, "row.txt:2: 7 fields; a row of nccl-tests has 13");
    const std::string study =
        folder_.write("study.yml", std::string("workload: {flows: x}\n") + kMachine);
    EXPECT_THAT(run_captured({"collective", study}).error, HasSubstr("without a workload"));
    EXPECT_EQ(run_captured({"collective"}).status, 2);
}

// The columns of nccl-tests: size count type redop root, then time algbw busbw #wrong twice.
TEST(MeasuredTimes, ReadsNcclTests) {
    const ScratchFolder folder;
    const std::string file =
        folder.write("nccl.txt",
                     "# nThread 1 nGpus 8\n"
                     "NCCL version 2.18.5\n"
                     "     1024  256 float sum -1  30.1 0.03 0.06 0 30.0 0.03 "
                     "0.07 0\n"
                     "  1048576 262144 float sum -1 40.2 26.0 45.6 0 39.9 26.3 "
                     "46.0 0\n"
                     "# Avg bus bandwidth : 22.8\n");
    EXPECT_EQ(read_measured(file), (MeasuredBandwidths{{1024, 0.06}, {1048576, 45.6}}));
    EXPECT_EQ(read_measured(file + ":in_place"),
              (MeasuredBandwidths{{1024, 0.07}, {1048576, 46.0}}));
    EXPECT_THROW(read_measured(file + ":busbw"), ConfigError);
}

// 1 MiB took 40.2 us out of place and 39.9 us in place.
TEST(MeasuredTimes, AreTheCostOfACollective) {
    const ScratchFolder folder;
    const std::string file =
        folder.write("nccl.txt", "1048576 262144 float sum -1 40.2 26.0 45.6 0 39.9 26.3 46.0 0\n");
    const auto simulated_ps = [&](const std::string& more) {
        return run_study(
                   "system: {collectives: {all_reduce: measured}, measured: {all_reduce: "
                   "{file: '" +
                   file + "'" + more +
                   "}}}\n"
                   "network: {dimensions: [{topology: ring, ranks: 8, bandwidth: 50GB/s}]}\n"
                   "workload: {generate: {kind: collective, collective: all_reduce, bytes: "
                   "1MiB}}\n")
            .simulated.ps;
    };
    EXPECT_EQ(simulated_ps(""), 40'200'000U);
    EXPECT_EQ(simulated_ps(", column: in_place"), 39'900'000U);
}

}  // namespace
}  // namespace astra::test
