#include <gmock/gmock.h>

#include "tests/workload/trace_maker.h"
#include "workload/generate/generator.h"
#include "workload/generate/tensor_table.h"

namespace astra::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kHeader = "tensor,layer,kind,params,grad_bytes_fp32,fwd_flops_per_sample\n";

std::string table_failure(const std::string& text) {
    const Folder folder;
    folder.write("t.csv", text);
    try {
        read_tensor_table(folder.file("t.csv"));
    } catch (const ConfigError& error) {
        const std::string what = error.what();
        const std::string file = folder.file("t.csv");
        EXPECT_THAT(what, testing::StartsWith(file));
        return what.substr(file.size());
    }
    return "";
}

TEST(TensorTable, ReadsRowsInOrder) {
    const Folder folder;
    folder.write(
        "t.csv",
        "# a comment\n params , tensor,fwd_flops_per_sample\r\n5,b,7\n\n0,a,18446744073709551615");
    EXPECT_THAT(read_tensor_table(folder.file("t.csv")),
                ElementsAre(TensorRow{"b", 5, 7}, TensorRow{"a", 0, 18446744073709551615U}));
}

TEST(TensorTable, SaysWhatIsWrongWhere) {
    EXPECT_EQ(table_failure(""), ": holds no tensor");
    EXPECT_EQ(table_failure(kHeader), ": holds no tensor");
    EXPECT_THAT(table_failure("tensor,param,fwd_flops_per_sample\n"),
                HasSubstr(":1: the line of headers has no column 'params'; did you mean 'param'?"));
    EXPECT_EQ(table_failure(std::string(kHeader) + "a,a,conv,1,4\n"),
              ":2: 5 fields; the header has 6");
    EXPECT_EQ(table_failure(std::string(kHeader) + "a,a,conv,1,8,9\n"),
              ":2: grad_bytes_fp32 is 8, but 1 parameters of 4 B are 4");
    EXPECT_EQ(table_failure(std::string(kHeader) + "a,a,conv,-1,4,9\n"),
              ":2: '-1' is not a whole number up to 9007199254740992");
    EXPECT_EQ(table_failure(std::string(kHeader) + "a,a,c,1,4,9\na,a,c,1,4,9\n"),
              ":3: a second tensor 'a'");
    EXPECT_EQ(table_failure(std::string(kHeader) + ",a,c,1,4,9\n"), ":2: the tensor has no name");
    EXPECT_EQ(table_failure(std::string(10'000, 'a')), ":1: more than 4096 bytes in a line");
}

// Two tensors, 8e9 and 4e9 FLOPs a sample, batch 2, 16 TFLOPS: forward 1 ms and 0.5 ms, backward
// twice that in reverse; gradients of 2 bytes.
TEST(TrainingGenerator, FollowsATable) {
    const Folder folder;
    folder.write("t.csv",
                 std::string(kHeader) +
                     "a,a,conv,100,400,8000000000\n"
                     "b,b,conv,300,1200,4000000000\n");
    Warnings warnings;
    const Workload workload = generate_workload("training",
                                                {{"table", folder.file("t.csv")},
                                                 {"batch", "2"},
                                                 {"rate", "16TFLOPS"},
                                                 {"gradient", "2B"},
                                                 {"iterations", "2"}},
                                                4,
                                                warnings);
    const ExecutionGraph& graph = *workload.ranks[0].graph;
    ASSERT_EQ(graph.size(), 16U);
    std::vector<std::string> names;
    for (std::uint32_t op = 0; op < 8; ++op) {
        names.emplace_back(graph.name_of(OpId{op}));
    }
    EXPECT_THAT(names,
                ElementsAre("forward_a",
                            "forward_b",
                            "backward_b",
                            "all_reduce_b",
                            "update_b",
                            "backward_a",
                            "all_reduce_a",
                            "update_a"));
    constexpr std::uint64_t kMs = 1'000'000'000;
    EXPECT_THAT(std::vector(graph.duration_ps.begin(), graph.duration_ps.begin() + 8),
                ElementsAre(kMs, kMs / 2, kMs, 0, 0, 2 * kMs, 0, 0));
    EXPECT_EQ(graph.collectives[0].bytes.count, 600U);
    EXPECT_EQ(graph.collectives[1].bytes.count, 200U);
    // The second forward_a waits for the last computation, backward_a, and for update_a; the second
    // forward_b for the first and for update_b.
    const auto children = [&](std::uint32_t op) {
        return std::vector(graph.child.begin() + graph.child_begin[op],
                           graph.child.begin() + graph.child_begin[op + 1]);
    };
    EXPECT_THAT(children(5), ElementsAre(6U, 8U));
    EXPECT_THAT(children(7), ElementsAre(8U));
    EXPECT_THAT(children(4), ElementsAre(9U));
}

TEST(TrainingGenerator, RefusesATableWithLayers) {
    const auto failure = [](const ParameterMap& parameters) -> std::string {
        Warnings warnings;
        try {
            generate_workload("training", parameters, 2, warnings);
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(failure({{"table", "t.csv"}, {"layers", "3"}}),
              "generate: training: layers: does not go with a table, which says it for each "
              "tensor");
    EXPECT_EQ(failure({{"batch", "3"}}), "generate: training: batch: goes with a table");
    EXPECT_EQ(failure({{"table", "nowhere.csv"}}), "nowhere.csv: cannot be read");
    EXPECT_THAT(failure({{"table", "t.csv"}, {"rate", "0FLOPS"}}),
                HasSubstr("rate: '0FLOPS' is not a rate above 0"));
}

}  // namespace
}  // namespace astra::test
