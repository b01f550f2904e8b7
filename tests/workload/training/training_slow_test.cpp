// How long the analysis of a large trace takes.
#include <algorithm>
#include <cstdio>
#include <ctime>

#include <gmock/gmock.h>

#include "tests/workload/training/training_traces.h"
#include "workload/generate/generator.h"

namespace astra::test {
namespace {

double seconds_since(std::clock_t start) {
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// A million ops: 250,000 tensors with forward, backward, transfer and update. Read from files and
// analysed, on one core, in less than 5 s; the fastest of two, as others may use the machine.
TEST(TrainingAnalysis, TakesSecondsForAMillionOps) {
    const Folder folder;
    Warnings warnings;
    write_traces("training", {{"layers", "250000"}}, 1, folder.file("t"), warnings);
    double least_s = 1e9;
    for (int i = 0; i < 2; ++i) {
        const std::clock_t start = std::clock();
        Workload workload = load(folder, 1, warnings);
        const double loaded_s = seconds_since(start);
        const TrainingReport report =
            prepare_training(workload, {.iterations = 2, .barrier = false}, {}, {}, warnings);
        const double all_s = seconds_since(start);
        std::printf("read in %.2f s, analysed in %.2f s\n", loaded_s, all_s - loaded_s);
        EXPECT_EQ(report.windows.size(), 250'000U);
        EXPECT_EQ(workload.ranks[0].graph->size(), 2'000'000U);
        least_s = std::min(least_s, all_s);
    }
    EXPECT_LT(least_s, 5);
}

}  // namespace
}  // namespace astra::test
