// Runs that stop before their end, at a limit, in a deadlock or by a signal: what they leave.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "astra/app/run/interrupt.h"
#include "astra/core/error.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// Computation, a collective, both, a collective; rank 3 computes longer.
Experiment two_collectives() {
    Experiment e;
    const auto trace = [](std::uint64_t first_us) {
        return Trace{compute(1, first_us),
                     collective(2, CollectiveKind::AllReduce, 1U << 20U, {1}),
                     compute(3, 20, {2}),
                     collective(4, CollectiveKind::AllGather, 1U << 20U, {2})};
    };
    e.traces = everywhere(8, trace(10));
    e.traces[3] = trace(30);
    return e;
}

struct Stopped {
    ProgramRun run;
    nlohmann::json result;
};

Stopped stop(const Experiment& experiment, const ScratchFolder& folder, Arguments more) {
    more.push_back("--output=" + folder.file("out"));
    Stopped stopped;
    stopped.run = run_captured(experiment, more);
    stopped.result = nlohmann::json::parse(content(folder.file("out/result.json")), nullptr, false);
    return stopped;
}

void expect_parts_add_up(const nlohmann::json& result) {
    for (const auto& rank : result.at("ranks")) {
        std::uint64_t sum_ps = 0;
        for (const char* part : {"compute_ps",
                                 "exposed_communication_ps",
                                 "waiting_ps",
                                 "exposed_memory_ps",
                                 "idle_ps"}) {
            sum_ps += rank.at(part).get<std::uint64_t>();
        }
        EXPECT_EQ(sum_ps, rank.at("finish_ps").get<std::uint64_t>());
    }
}

// At 35 us rank 3 has computed for 30 us and communicated for 5, the others for 10 and 25; the
// all_reduce has not ended, and of it nobody knows when it will.
TEST(Unfinished, TheLimitOfTimeWritesWhatThereIs) {
    const ScratchFolder folder;
    const Stopped stopped = stop(two_collectives(), folder, {"--until=35us"});
    EXPECT_EQ(stopped.run.status, 3);
    EXPECT_THAT(stopped.run.error, HasSubstr("limit of simulated time is reached at 35000000 ps"));
    EXPECT_THAT(stopped.run.out,
                StartsWith("unfinished       the limit of simulated time is reached: what was "
                           "simulated up to 35 us, without the end of 8 of 8 ranks\n"));
    EXPECT_THAT(stopped.run.out, HasSubstr("and 1 that had not ended"));
    const nlohmann::json& result = stopped.result;
    EXPECT_EQ(result.at("unfinished"), true);
    EXPECT_EQ(result.at("unfinished_ranks"), 8);
    EXPECT_EQ(result.at("simulated_ps"), 35'000'000);
    ASSERT_EQ(result.at("collectives").size(), 1U);
    EXPECT_EQ(result.at("collectives")[0].at("start_ps"), 10'000'000);
    EXPECT_TRUE(result.at("collectives")[0].at("end_ps").is_null());
    EXPECT_THAT(content(folder.file("out/collectives.csv")),
                HasSubstr(",8,10000000,,30000000,3,20000000,,0,false\n"));
    EXPECT_EQ(result.at("ranks")[3].at("compute_ps"), 30'000'000);
    EXPECT_EQ(result.at("ranks")[3].at("communication_ps"), 5'000'000);
    EXPECT_EQ(result.at("ranks")[2].at("communication_ps"), 25'000'000);
    EXPECT_EQ(result.at("counts").at("ops"), 8);
    expect_parts_add_up(result);
    for (const auto& file : std::filesystem::directory_iterator(folder.file("out"))) {
        EXPECT_NE(file.path().filename().string().front(), '.') << "a temporary file is left";
    }
}

TEST(Unfinished, AFinishedRunIsNotMarked) {
    const ScratchFolder folder;
    const Stopped stopped = stop(two_collectives(), folder, {"--until=1s"});
    EXPECT_EQ(stopped.run.status, 0);
    EXPECT_THAT(stopped.run.out, StartsWith("astra "));
    EXPECT_FALSE(stopped.result.contains("unfinished"));
    EXPECT_FALSE(stopped.result.contains("unfinished_ranks"));
}

// Wherever a run is stopped, what it has to say of the past is what the whole run says.
TEST(Unfinished, WhatHasEndedIsAsInTheWholeRun) {
    for (const char* backend : {"congestion_unaware", "congestion_aware", "flow", "packet"}) {
        Experiment e = two_collectives();
        e.backend = backend;
        const ScratchFolder whole_folder;
        const nlohmann::json whole = stop(e, whole_folder, {}).result;
        const auto end_ps = whole.at("simulated_ps").get<std::uint64_t>();
        std::size_t ended_in_all = 0;
        for (std::uint64_t i = 0; i < 12; ++i) {
            const std::uint64_t until_ps = i * end_ps / 12;
            SCOPED_TRACE(fmt::format("{} until {} ps", backend, until_ps));
            const ScratchFolder folder;
            const Stopped stopped = stop(e, folder, {fmt::format("--until={}ps", until_ps)});
            EXPECT_EQ(stopped.run.status, 3);
            expect_parts_add_up(stopped.result);
            std::vector<nlohmann::json> ended;
            for (const auto& c : stopped.result.at("collectives")) {
                if (!c.at("end_ps").is_null()) {
                    ended.push_back(c);
                }
            }
            std::vector<nlohmann::json> expected;
            std::size_t begun = 0;
            for (const auto& c : whole.at("collectives")) {
                if (c.at("end_ps").get<std::uint64_t>() <= until_ps) {
                    expected.push_back(c);
                }
                begun += c.at("start_ps").get<std::uint64_t>() <= until_ps ? 1 : 0;
            }
            EXPECT_EQ(ended, expected);
            EXPECT_EQ(stopped.result.at("collectives").size(), begun);
            ended_in_all += ended.size();
            for (std::size_t r = 0; r < 8; ++r) {
                const auto finish_ps = whole.at("ranks")[r].at("finish_ps").get<std::uint64_t>();
                if (finish_ps <= until_ps) {
                    EXPECT_EQ(stopped.result.at("ranks")[r], whole.at("ranks")[r]);
                } else {
                    EXPECT_EQ(stopped.result.at("ranks")[r].at("finish_ps"), until_ps);
                }
            }
        }
        EXPECT_GT(ended_in_all, 0U);
    }
}

TEST(Unfinished, TheLimitOfEventsAndADeadlockDoToo) {
    const ScratchFolder folder;
    Stopped stopped = stop(two_collectives(), folder, {"--max-events=60"});
    EXPECT_EQ(stopped.run.status, 3);
    EXPECT_EQ(stopped.result.at("unfinished_because"), "the limit of events is reached");
    Experiment e = two_collectives();
    e.traces[0] = {compute(1, 1)};
    stopped = stop(e, folder, {});
    EXPECT_EQ(stopped.run.status, 3);
    EXPECT_EQ(stopped.result.at("unfinished_because"), "deadlock");
    EXPECT_EQ(stopped.result.at("unfinished_ranks"), 7);
    EXPECT_EQ(stopped.result.at("ranks")[0].at("finish_ps"), 1'000'000);
}

ProgramRun training(const ScratchFolder& folder, const std::string& network, Arguments more) {
    const std::string study = folder.write(
        "study.yml",
        "workload: {generate: {kind: training, layers: 4, bytes: 4MiB}, iterations: 6}\n"
        "network: {backend: flow, dimensions: [{topology: switch, ranks: 4, bandwidth: 50GB/s, "
        "latency: 500ns}]" +
            network + "}\n");
    more.insert(more.begin(), {"run", study, "--output=" + folder.file("out")});
    return run_captured(more);
}

// The iterations that all ranks have been through are those of the whole run; the third one has
// begun.
TEST(Unfinished, WholeIterationsAreTold) {
    const ScratchFolder whole_folder;
    ASSERT_EQ(training(whole_folder, "", {}).status, 0);
    const auto whole = nlohmann::json::parse(content(whole_folder.file("out/result.json")));
    const auto second_ps = whole.at("iterations")[1].at("end_ps").get<std::uint64_t>();
    const ScratchFolder folder;
    ASSERT_EQ(training(folder, "", {fmt::format("--until={}ps", second_ps + 100'000'000)}).status,
              3);
    const auto part = nlohmann::json::parse(content(folder.file("out/result.json")));
    ASSERT_EQ(part.at("iterations").size(), 2U);
    EXPECT_EQ(part.at("iterations")[0], whole.at("iterations")[0]);
    EXPECT_EQ(part.at("iterations")[1], whole.at("iterations")[1]);
}

// A link breaks for good after 2 ms, and what is sent over it then has no way.
TEST(Unfinished, AnErrorDuringTheRunWritesWhatThereIs) {
    const ScratchFolder folder;
    const ProgramRun run = training(folder, ", failures: [{from: 0, to: switch0.0, at: 2ms}]", {});
    EXPECT_EQ(run.status, 3);
    EXPECT_THAT(run.error, HasSubstr("no path from rank"));
    const auto result = nlohmann::json::parse(content(folder.file("out/result.json")));
    EXPECT_EQ(result.at("unfinished"), true);
    EXPECT_THAT(result.at("unfinished_because").get<std::string>(),
                StartsWith("no path from rank"));
    EXPECT_EQ(result.at("iterations").size(), 1U);
    expect_parts_add_up(result);
}

// 1000 B at 400 Gbit/s take 20 ns and twice 500 ns: flow 1 is received at 1020 ns, flow 2 is on
// its way from then on, flow 3 waits for it.
TEST(Unfinished, FlowsOnTheirWayHaveNoEnd) {
    const ScratchFolder folder;
    folder.write("three.flows", "1 0 1 1000 0\n2 1 2 1000 1\n3 2 0 1000 2\n");
    const std::string study = folder.write(
        "study.yml",
        "workload: {flows: three.flows}\nnetwork:\n  backend: congestion_unaware\n  dimensions:\n"
        "    - {topology: switch, ranks: 3, bandwidth: 400Gbps, latency: 500ns}\n");
    const ProgramRun run =
        run_captured({"run", study, "--until=1500ns", "--output=" + folder.file("out")});
    EXPECT_EQ(run.status, 3);
    EXPECT_EQ(content(folder.file("out/flows.csv")),
              "id,src,dst,bytes,after,start_ps,finish_ps,duration_ps,slowdown\n"
              "1,0,1,1000,0,0,1020000,1020000,1.0000\n"
              "2,1,2,1000,1,1020000,,,\n"
              "3,2,0,1000,2,,,,\n");
    const auto result = nlohmann::json::parse(content(folder.file("out/result.json")));
    EXPECT_EQ(result.at("flows").at("count"), 1);
    EXPECT_EQ(result.at("flows").at("makespan_ps"), 1'020'000);
    EXPECT_EQ(result.at("ranks")[2].at("communication_ps"), 480'000);
}

// The program looks for signals between slices of events: one that came before the first slice
// stops it after that.
void run_interrupted(int signal, const ScratchFolder& folder) {
    catch_interrupts();
    std::raise(signal);
    write_files(two_collectives(), folder);
    Arguments arguments = run_arguments(two_collectives(), folder);
    arguments.push_back("--output=" + folder.file("out"));
    std::exit(run_program(arguments));
}

TEST(UnfinishedDeathTest, ASignalWritesWhatThereIs) {
    for (const int signal : {SIGINT, SIGTERM}) {
        const ScratchFolder folder;
        EXPECT_EXIT(run_interrupted(signal, folder),
                    testing::ExitedWithCode(130),
                    "interrupted; what was simulated so far is in .*out, marked unfinished");
        const auto result = nlohmann::json::parse(content(folder.file("out/result.json")));
        EXPECT_EQ(result.at("unfinished"), true);
        EXPECT_EQ(result.at("unfinished_because"), "interrupted");
        EXPECT_GT(result.at("counts").at("events"), 0);
    }
}

}  // namespace
}  // namespace astra::test
