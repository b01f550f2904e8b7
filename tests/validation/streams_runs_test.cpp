// Runs of traces that name the streams of their ops: a stream in order, streams beside each other.
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include <gmock/gmock.h>

#include "tests/support/experiment.h"
#include "tests/validation/case_check.h"

namespace astra::test {
namespace {

constexpr std::uint64_t kMicro = 1'000'000;

TraceNode kernel(std::uint64_t id,
                 std::uint64_t microseconds,
                 std::uint64_t stream,
                 std::vector<std::uint64_t> parents = {}) {
    TraceNode node = compute(id, microseconds, std::move(parents));
    node.stream_note.stream = stream;
    return node;
}

Experiment of(const Trace& trace, std::uint32_t ranks = 2) {
    Experiment experiment;
    experiment.dimensions = {ring(ranks)};
    experiment.network_only();
    experiment.traces = everywhere(ranks, trace);
    return experiment;
}

// Of a recorded run: each kernel starts when the one before it on its stream, by id, has ended.
void expect_back_to_back(const std::string& file, const Trace& trace) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    ASSERT_EQ(line, "rank,node,name,kind,start_ps,end_ps");
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::uint64_t, std::uint64_t>> ran;
    while (std::getline(in, line)) {
        std::vector<std::string> columns;
        std::istringstream cells(line);
        for (std::string cell; std::getline(cells, cell, ',');) {
            columns.push_back(cell);
        }
        ASSERT_EQ(columns.size(), 6U) << line;
        ran[{std::stoull(columns[0]), std::stoull(columns[1])}] = {std::stoull(columns[4]),
                                                                   std::stoull(columns[5])};
    }
    ASSERT_EQ(ran.size(), 2 * trace.size());
    for (const std::uint64_t rank : {0U, 1U}) {
        std::map<std::uint64_t, std::uint64_t> free;  // by stream
        for (const TraceNode& node : trace) {
            const auto [start, end] = ran[{rank, node.id}];
            EXPECT_EQ(start, free[node.stream_note.stream])
                << "rank " << rank << " node " << node.id;
            free[node.stream_note.stream] = end;
        }
    }
}

// Two kernels of 100 us on each of two streams: 200 us; with streams of astra's own 400, 200, 100.
TEST(StreamRuns, OfTheTraceOrANumber) {
    Experiment experiment =
        of({kernel(1, 100, 7), kernel(2, 100, 7), kernel(3, 100, 36), kernel(4, 100, 36)});
    EXPECT_EQ(run(experiment).simulated.ps, 200 * kMicro);
    for (const auto& [setting, microseconds] :
         std::map<std::string, std::uint64_t>{{"system.streams=trace", 200},
                                              {"system.streams=1", 400},
                                              {"system.streams=2", 200},
                                              {"system.streams=4", 100},
                                              {"system.streams.compute=2", 200},
                                              {"system.streams={compute: 4, cpu: 1}", 100},
                                              {"system.streams.communication=4", 400}}) {
        experiment.settings = {setting};
        EXPECT_EQ(run(experiment).simulated.ps, microseconds * kMicro) << setting;
    }
    experiment.settings = {"system.streams=traces"};
    expect_failure(run_captured(experiment), 2, {"system.streams", "neither 'trace' nor a number"});
    experiment.settings = {"system.streams=0"};
    expect_failure(run_captured(experiment), 2, {"system.streams"});
}

// n streams of random kernels take as long as the longest of them, whatever the order in which the
// ids go through them; with noise too, and with one rank late.
TEST(StreamRuns, TakeAsLongAsTheLongestStream) {
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 20; ++trial) {
        const std::uint64_t streams = 1 + random() % 5;
        std::map<std::uint64_t, std::uint64_t> sums;
        Trace trace;
        for (std::uint64_t id = 1; id <= 30; ++id) {
            const std::uint64_t stream = random() % streams;
            const std::uint64_t time = 1 + random() % 100;
            sums[stream] += time;
            trace.push_back(kernel(id, time, stream));
        }
        std::uint64_t longest = 0;
        for (const auto& [stream, sum] : sums) {
            longest = std::max(longest, sum);
        }
        Experiment experiment = of(trace);
        EXPECT_EQ(run(experiment).simulated.ps, longest * kMicro);
        experiment.settings = {"system.compute_noise.deviation=0.1"};
        const ScratchFolder folder;
        write_files(experiment, folder);
        Arguments arguments = run_arguments(experiment, folder);
        arguments.insert(arguments.end(), {"--record=ops", "--output=" + folder.file("o")});
        ASSERT_EQ(run_captured(arguments).status, 0);
        expect_back_to_back(folder.file("o/ops.csv"), trace);
    }
}

// What chakra_trace_link writes: kernels hang on their launchers alone, the all-reduce of the last
// kernel's gradient too. Launchers take 2 us; the first kernel starts at 2, three of 100 us end at
// 302; the ring of two then takes what it takes alone. A rank whose kernels take 50 us longer holds
// up the other.
TEST(StreamRuns, CollectivesComeBehindTheirComputation) {
    const auto trace_of = [](std::uint64_t microseconds) {
        Trace trace;
        std::uint64_t before = 0;
        for (std::uint64_t i = 1; i <= 4; ++i) {
            TraceNode launcher = compute(
                i, 2, i == 1 ? std::vector<std::uint64_t>{} : std::vector<std::uint64_t>{before});
            launcher.on_cpu = true;
            before = i;
            trace.push_back(launcher);
            if (i < 4) {
                trace.push_back(kernel(10 + i, microseconds, 7, {i}));
            }
        }
        TraceNode reduce = collective(14, CollectiveKind::AllReduce, kMiB, {4});
        reduce.stream_note.stream = 20;
        trace.push_back(reduce);
        return trace;
    };
    const std::uint64_t alone =
        run(of({collective(14, CollectiveKind::AllReduce, kMiB)})).simulated.ps;
    Experiment experiment = of(trace_of(100));
    const RunResult result = run(experiment);
    EXPECT_EQ(result.simulated.ps, 302 * kMicro + alone);
    experiment.traces[1] = trace_of(150);
    EXPECT_EQ(run(experiment).simulated.ps, 452 * kMicro + alone);
    const ProgramRun program = run_captured(experiment);
    EXPECT_THAT(program.error,
                testing::HasSubstr("8 of 8 ops of the GPU wait for nothing but their launchers; 6 "
                                   "dependencies are added"));
    experiment.settings = {"system.streams=1"};
    EXPECT_EQ(run(experiment).simulated.ps, std::max(452 * kMicro, 8 * kMicro + alone));
}

// Threads of the host go beside each other; a call that waits for a stream holds its thread up.
TEST(StreamRuns, ThreadsOfTheHost) {
    const auto host = [](std::uint64_t id, std::uint64_t tid, std::vector<std::uint64_t> parents) {
        TraceNode node = compute(id, 10, std::move(parents));
        node.on_cpu = true;
        node.stream_note.thread = tid;
        return node;
    };
    Trace trace = {
        host(1, 1, {}), host(2, 1, {1}), host(3, 2, {}), host(4, 2, {3}), kernel(11, 100, 7, {1})};
    // 1, 2 beside 3, 4 beside the kernel; ASTRA-sim has one op of the host at a time.
    const auto beside = [](const Trace& of_rank) {
        Experiment experiment = of(of_rank);
        experiment.settings = {"system.host_threads=trace"};
        return run(experiment).simulated.ps;
    };
    EXPECT_EQ(beside(trace), 110 * kMicro);
    const Trace host_alone(trace.begin(), trace.begin() + 4);
    Trace marked = host_alone;
    marked.push_back(kernel(11, 1, 7, {1}));
    EXPECT_EQ(beside(marked), 20 * kMicro);
    EXPECT_EQ(run(of(marked)).simulated.ps, 40 * kMicro);
    trace[1].name = "cudaStreamSynchronize";
    trace[1].stream_note.stream = 7;
    trace.push_back(host(5, 1, {2}));
    EXPECT_EQ(beside(trace), 120 * kMicro);
}

TEST(StreamRuns, AWorkloadWithoutWorkIsSaid) {
    TraceNode nothing = compute(1, 0);
    TraceNode empty = collective(2, CollectiveKind::AllReduce, 0);
    for (const Trace& trace : {Trace{}, Trace{nothing}, Trace{nothing, empty}}) {
        const Experiment experiment = of(trace);
        const ProgramRun plain = run_captured(experiment);
        EXPECT_EQ(plain.status, 0) << plain.error;
        EXPECT_TRUE(plain.out.starts_with("nothing simulated  no op of any rank takes time or"))
            << plain.out;
        EXPECT_THAT(plain.error, testing::HasSubstr("warning: no op of any rank takes time or"));
        const ProgramRun strict = run_captured(experiment, {"--strict"});
        EXPECT_EQ(strict.status, 2);
        EXPECT_EQ(run_captured(experiment, {"--strict", "--check"}).status, 2);
    }
    // One op of one rank is enough.
    for (const TraceNode& some : {compute(1, 1),
                                  collective(1, CollectiveKind::AllReduce, 1),
                                  collective(1, CollectiveKind::Barrier, 0)}) {
        Experiment experiment = of({some});
        EXPECT_TRUE(run(experiment).have_work);
        EXPECT_FALSE(run_captured(experiment).out.starts_with("nothing"));
    }
    Experiment recorded = of({collective(1, CollectiveKind::AllReduce, kMiB)});
    recorded.replay_only = true;
    EXPECT_FALSE(run(recorded).have_work) << "bytes are not moved, and no duration is recorded";
}

}  // namespace
}  // namespace astra::test
