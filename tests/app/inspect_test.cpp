// `astra inspect trace` counts what is there and finds what cannot fit together.
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/experiment.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

void write(const std::string& file, const std::string& nodes) {
    std::ofstream(file) << R"({"workload_graph": [)" << nodes << "]}";
}

// Eight ranks of training: in each 3 forward, 3 backward, 3 all-reduces of 1 MiB and
// 3 updates; all alike.
TEST(InspectTrace, CountsWhatIsThere) {
    const ScratchFolder folder;
    const std::string prefix = folder.file("t");
    ASSERT_EQ(
        run_captured(
            {"generate", "training", "layers=3", "bytes=1MiB", "--ranks=8", "--output=" + prefix})
            .status,
        0);
    const ProgramRun run = run_captured({"inspect", "trace", prefix});
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.out, HasSubstr("ranks            8, with 1 different graphs"));
    EXPECT_THAT(run.out, HasSubstr("compute                 72"));
    EXPECT_THAT(run.out, HasSubstr("all_reduce              24   1 MiB, 24 MiB in all"));
    EXPECT_THAT(run.out, HasSubstr("contradictions   none"));
}

TEST(InspectTrace, FindsMessagesThatDoNotPairUp) {
    const ScratchFolder folder;
    const std::string prefix = folder.file("t");
    write(prefix + ".0.json",
          R"({"id": 1, "type": 5, "comm_dst": 1, "comm_tag": 7, "comm_size": 8},
             {"id": 2, "type": 5, "comm_dst": 1, "comm_tag": 9, "comm_size": 8})");
    write(prefix + ".1.json",
          R"({"id": 1, "type": 6, "comm_src": 0, "comm_tag": 8, "comm_size": 8},
             {"id": 2, "type": 6, "comm_src": 0, "comm_tag": 9, "comm_size": 4})");
    const ProgramRun run = run_captured({"inspect", "trace", prefix});
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.error, HasSubstr("3 contradictions:"));
    EXPECT_THAT(run.error, HasSubstr("rank 0 -> rank 1, tag 7: 1 sends, 0 receives"));
    EXPECT_THAT(run.error, HasSubstr("rank 0 -> rank 1, tag 8: 0 sends, 1 receives"));
    EXPECT_THAT(run.error, HasSubstr("rank 0 -> rank 1, tag 9: sends and receives differ in size"));
}

TEST(InspectTrace, FindsCollectivesThatNotAllComeTo) {
    const ScratchFolder folder;
    const std::string prefix = folder.file("t");
    const std::string reduce = R"({"id": 1, "type": 7, "comm_type": 0, "comm_size": 8})";
    write(prefix + ".0.json", reduce);
    write(prefix + ".1.json", reduce + R"(, {"id": 2, "type": 7, "comm_type": 2, "comm_size": 8})");
    const ProgramRun run = run_captured({"inspect", "trace", prefix});
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.error, HasSubstr("group '0': rank 0 comes to 1 collectives, rank 1 to 2"));
}

// Both receive before they send: the sets fit together, but no run could end.
TEST(InspectTrace, FindsCircles) {
    const ScratchFolder folder;
    const std::string prefix = folder.file("t");
    for (const int rank : {0, 1}) {
        const std::string other = std::to_string(1 - rank);
        write(prefix + "." + std::to_string(rank) + ".json",
              R"({"id": 1, "type": 6, "comm_src": )" + other +
                  R"(, "comm_tag": 0, "comm_size": 8}, {"id": 2, "type": 5, "comm_dst": )" + other +
                  R"(, "comm_tag": 0, "comm_size": 8, "data_deps": [1]})");
    }
    const ProgramRun run = run_captured({"inspect", "trace", prefix});
    EXPECT_EQ(run.status, 3);
    EXPECT_THAT(run.error, HasSubstr("2 ranks wait for each other in a circle"));
    EXPECT_THAT(run.error, HasSubstr("rank 1: node 2"));
}

TEST(InspectTrace, SaysWhatItLookedFor) {
    const ScratchFolder folder;
    const ProgramRun run = run_captured({"inspect", "trace", folder.file("t")});
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.error, HasSubstr("no file matches"));
    EXPECT_THAT(run_captured({"inspect", "trase"}).error, HasSubstr("did you mean 'trace'?"));
}

}  // namespace
}  // namespace astra::test
