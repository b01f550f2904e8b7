// Chunks that share links, sizes that do not divide, windows, chains: what the tables leave out.
#include <gtest/gtest.h>

#include "tests/support/replay_check.h"

namespace astra::test {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;

Experiment one_collective(CollectiveKind kind, std::uint64_t bytes) {
    Experiment experiment;
    experiment.traces = everywhere(8, {collective(1, kind, bytes)});
    return experiment;
}

void check(const Experiment& experiment, const FinishRange& expected, const Reference& reference) {
    const RunResult result = run(experiment);
    expect_finish(result, expected);
    expect_reference(result, reference);
}

// Four chunks at once keep every link busy: with m = S/32, one message's latency, delay and
// reduction are shorter than three others' wire(m). 14 steps of 4 messages, then the last one's
// latency and delay.
TEST(ReplayPipeline, FourChunksFillTheLinks) {
    Experiment experiment = one_collective(CollectiveKind::AllReduce, kMiB);
    experiment.backend = "congestion_aware";
    experiment.chunks = 4;
    experiment.active_chunks = 4;
    const ClosedForm form(experiment);
    const std::uint64_t m = kMiB / 32;
    ASSERT_LT(500'000 + form.delay() + form.reduction(m), 3 * form.wire(m));
    const std::uint64_t last = 2 * form.delay() + 14 * 4 * form.wire(m) + 500'000;
    const FinishRange got = finish_range(run(experiment));
    EXPECT_EQ(got.latest_ps, last);
    EXPECT_EQ(got.earliest_ps, last);
    expect_reference(run(experiment), {34680, 34680});
    experiment.scheduling = "FIFO";
    check(experiment, {last, last}, {34680, 34680});
}

// Four chunks, two at a time, on a switch whose latency is far above wire(m): the second chunk
// stays wire(m) behind the first, and so do their successors.
TEST(ReplayPipeline, TwoChunksOneBehindTheOther) {
    Experiment experiment = one_collective(CollectiveKind::AllReduce, kMiB);
    experiment.backend = "congestion_aware";
    experiment.dimensions = {{"Switch", 8, 400, 936'250}};
    experiment.chunks = 4;
    experiment.active_chunks = 2;
    experiment.memory_bandwidth = 3350;
    const ClosedForm form(experiment);
    const std::uint64_t time =
        2 * form.phase(CollectiveKind::AllReduce, kMiB / 4) + form.wire(kMiB / 32);
    check(experiment, {time, time}, {57426, 57426});
}

// 1,000,003 = 3 · 125,001 + 5 · 125,000. A block goes round the whole ring, so that a rank's last
// message is of the block that sets its time.
TEST(ReplayPipeline, SizeThatDoesNotDivide) {
    for (const char* backend : {"congestion_unaware", "congestion_aware"}) {
        Experiment experiment = one_collective(CollectiveKind::AllReduce, 1'000'003);
        experiment.backend = backend;
        const ClosedForm form(experiment);
        const auto time = [&](std::uint64_t m) {
            return 15 * form.delay() + 14 * form.travel(m, 1) + 7 * form.reduction(m);
        };
        check(experiment, {time(125'000), time(125'001)}, {41380, 41380});
    }
}

TEST(ReplayPipeline, DirectAllGatherOfAnOddShard) {
    Experiment experiment = one_collective(CollectiveKind::AllGather, 1'000'003);
    experiment.algorithms = {"direct"};
    const ClosedForm form(experiment);
    const std::uint64_t time = 2 * form.delay() + form.travel(1'000'003, 4);
    check(experiment, {time, time}, {20646, 20646});
}

// Two all-reduces one after the other, each of four chunks one after the other.
TEST(ReplayPipeline, TwoInARow) {
    Experiment experiment = one_collective(CollectiveKind::AllReduce, kMiB);
    experiment.chunks = 4;
    experiment.scheduling = "FIFO";
    experiment.traces = everywhere(8,
                                   {collective(1, CollectiveKind::AllReduce, kMiB),
                                    collective(2, CollectiveKind::AllReduce, kMiB)});
    const std::uint64_t time =
        2 * ClosedForm(experiment).collective(CollectiveKind::AllReduce, kMiB);
    check(experiment, {time, time}, {128880, 128880});
}

// Twelve layers of 2 ms, each with an all-reduce that the next one waits for.
TEST(ReplayPipeline, TensorParallelLayers) {
    Experiment experiment;
    experiment.dimensions = {switched(64)};
    experiment.memory_bandwidth = 1000;
    experiment.peak_tflops = 100;
    experiment.roofline = true;
    experiment.chunks = 4;
    Trace trace;
    for (std::uint64_t layer = 0; layer < 12; ++layer) {
        std::vector<std::uint64_t> parents;
        if (layer > 0) {
            parents.push_back(2 * layer);
        }
        trace.push_back(roofline_compute(2 * layer + 1, 200'000'000'000, 100'000'000, parents));
        trace.push_back(
            collective(2 * layer + 2, CollectiveKind::AllReduce, 4 * kMiB, {2 * layer + 1}));
    }
    experiment.traces = everywhere(64, trace);
    for (const auto& [backend, reference] :
         {std::pair{"congestion_unaware", 32'098'752}, std::pair{"congestion_aware", 33'943'392}}) {
        experiment.backend = backend;
        const std::uint64_t layer =
            2'000'000'000 + ClosedForm(experiment).collective(CollectiveKind::AllReduce, 4 * kMiB);
        const auto ns = static_cast<std::uint64_t>(reference);
        check(experiment, {12 * layer, 12 * layer}, {ns, ns});
    }
}

}  // namespace
}  // namespace astra::test
