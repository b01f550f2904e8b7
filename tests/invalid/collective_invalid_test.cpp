// Bad input to collectives by the command line: exit status 2, and what is wrong where.
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/experiment.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

class CollectiveInvalid : public testing::Test {
  protected:
    // Runs an all_reduce of 1 KiB on a ring of four under the section `system`.
    ProgramRun run(const std::string& system) const {
        const std::string study =
            folder_.write("study.yml",
                          fmt::format("workload: {{generate: {{kind: collective, collective: "
                                      "all_reduce, bytes: 1KiB}}}}\n"
                                      "system: {}\n"
                                      "network: {{dimensions: [{{topology: ring, ranks: 4, "
                                      "bandwidth: 1GB/s}}]}}\n",
                                      system));
        return run_captured({"run", study, "--quiet"});
    }
    ScratchFolder folder_;
};

// A synthesiser wants the ranks and the links; the choice by size knows algorithms only.
TEST_F(CollectiveInvalid, ASynthesiserIsNoChoiceBySize) {
    for (const std::string system :
         {"{collectives: {all_reduce: {by_size: [{algorithm: tacos}]}}}",
          "{collectives: {all_reduce: auto}, auto: {all_reduce: [tacos, ring]}}"}) {
        const ProgramRun ran = run(system);
        EXPECT_EQ(ran.status, 2) << system;
        EXPECT_THAT(ran.error, HasSubstr("study.yml:2:"));
        EXPECT_THAT(ran.error, HasSubstr("'tacos' is not possible here"));
    }
}

TEST_F(CollectiveInvalid, AMeasuredBandwidthIsAboveZero) {
    const ProgramRun ran =
        run("{collectives: {all_reduce: measured}, measured: {all_reduce: {beta: 0GB/s}}}");
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.error, HasSubstr("expected a bandwidth above 0"));
}

// 1e3 in a row of nccl-tests is a number, but no size.
TEST_F(CollectiveInvalid, ARowOfNcclTestsHasASize) {
    const std::string row = " 256 float sum -1 10.0 0.1 0.2 0 10.0 0.1 0.2 0\n";
    for (const std::string size : {"1e3", "-1024", "1KiB"}) {
        folder_.write("nccl.txt", "1024" + row + size + row);
        const ProgramRun ran =
            run("{collectives: {all_reduce: measured}, measured: {all_reduce: {file: nccl.txt}}}");
        EXPECT_EQ(ran.status, 2) << size;
        EXPECT_THAT(ran.error, HasSubstr("nccl.txt:2: '" + size + "' is not a size in bytes"));
    }
}

TEST_F(CollectiveInvalid, ALineWithoutAnEndIsNotReadWhole) {
    folder_.write("nccl.txt", std::string(1U << 20U, '7'));
    const ProgramRun ran =
        run("{collectives: {all_reduce: measured}, measured: {all_reduce: {file: nccl.txt}}}");
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.error, HasSubstr("nccl.txt:1: a line of more than 4096 bytes"));
}

// The result goes through a link to a device; the link is not replaced by a file.
TEST_F(CollectiveInvalid, ADeviceIsWrittenToAndNotReplaced) {
    const std::string link = folder_.file("null.csv");
    std::filesystem::create_symlink("/dev/null", link);
    const std::string machine = folder_.write(
        "machine.yml", "network: {dimensions: [{topology: ring, ranks: 4, bandwidth: 1GB/s}]}\n");
    const ProgramRun ran = run_captured({"collective",
                                         machine,
                                         "--collective=all_reduce",
                                         "--algorithm=ring",
                                         "--size=1KiB",
                                         "--csv=" + link});
    EXPECT_EQ(ran.status, 0) << ran.error;
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_TRUE(std::filesystem::is_character_file(link));
}

}  // namespace
}  // namespace astra::test
