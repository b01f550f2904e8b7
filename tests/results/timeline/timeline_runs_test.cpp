// Timelines of whole runs: slices agree with result.json to the picosecond, and nothing of the
// result changes by writing one.
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/experiment.h"
#include "tests/support/trace_reader.h"

namespace astra::test {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

struct Case {
    const char* name;
    const char* study;  // without the backend
};

std::string network(const char* backend) {
    return fmt::format(R"(
network:
  backend: {}
  dimensions:
    - {{topology: fully_connected, ranks: 2, bandwidth: 10GB/s, latency: 500ns}}
    - {{topology: switch, ranks: 3, bandwidth: 5GB/s, latency: 1us}}
)",
                       backend);
}

constexpr Case kCases[] = {
    {"jitter", R"(
workload: {generate: {kind: training, layers: 4, forward: 20us, backward: 40us, bytes: 256KiB}}
system: {chunks: 2, collectives: {all_reduce: [ring, direct]}, compute_noise: {deviation: 0.2}}
)"},
    {"pipeline", R"(
workload: {generate: {kind: pipeline, microbatches: 4, forward: 20us, backward: 40us, bytes: 64KiB}}
system: {compute_noise: {deviation: 0.3}}
)"},
    {"rendezvous", R"(
workload: {generate: {kind: pipeline, microbatches: 3, forward: 20us, backward: 40us, bytes: 64KiB}}
system: {rendezvous: true}
)"},
    {"two_jobs", R"(
jobs:
  - name: a
    ranks: [0, 2, 4]
    workload: {generate: {kind: collective, collective: all_to_all, bytes: 512KiB}}
  - name: b
    ranks: [1, 3, 5]
    start: 7us
    workload: {generate: {kind: training, layers: 3, forward: 5us, backward: 9us, bytes: 96KiB}}
)"},
    {"fusion", R"(
workload:
  generate: {kind: training, layers: 6, forward: 20us, backward: 40us, bytes: 256KiB}
  iterations: 2
system: {compute_noise: {deviation: 0.2}, transfers: {policy: fusion}}
)"},
    {"caramel", R"(
workload:
  generate: {kind: training, layers: 6, forward: 20us, backward: 40us, bytes: 256KiB}
  iterations: 2
system: {compute_noise: {deviation: 0.2}, transfers: {policy: caramel}}
)"},
};

struct Runs : testing::TestWithParam<std::tuple<Case, const char*>> {
    const ScratchFolder folder;

    // result.json of a run with these options more.
    std::string run(const std::string& output, const Arguments& more = {}) {
        const auto& [what, backend] = GetParam();
        const std::string study = folder.write("study.yml", what.study + network(backend));
        Arguments arguments = {"run", study, "--output=" + folder.file(output), "--quiet"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ProgramRun ran = run_captured(arguments);
        EXPECT_EQ(ran.status, 0) << ran.error;
        return read_bytes(folder.file(output) + "/result.json");
    }
};

void expect_flows_pair_up(const ReadTrace& trace, std::uint64_t messages) {
    std::map<std::uint64_t, std::uint64_t> sent;  // flow -> end
    std::map<std::uint64_t, std::uint64_t> received;
    for (const ReadSlice& slice : trace.slices) {
        for (const std::uint64_t flow : slice.flows) {
            EXPECT_TRUE(sent.emplace(flow, slice.end).second) << flow;
        }
        for (const std::uint64_t flow : slice.ended_flows) {
            EXPECT_TRUE(received.emplace(flow, slice.begin).second) << flow;
        }
    }
    EXPECT_EQ(sent.size(), messages);
    EXPECT_EQ(sent, received);
}

TEST_P(Runs, SlicesAgreeWithTheResult) {
    const Json result = Json::parse(run("out", {"--timeline=" + folder.file("trace")}));
    const ReadTrace trace = read_perfetto(read_bytes(folder.file("trace")));
    std::map<std::string, std::uint64_t> ends;
    for (const ReadSlice& slice : trace.slices) {
        ends[slice.process] = std::max(ends[slice.process], slice.end);
    }
    EXPECT_FALSE(result.at("ranks").empty());
    for (const Json& rank : result.at("ranks")) {
        const std::string name = fmt::format("rank {}", rank.at("rank").get<int>());
        EXPECT_EQ(trace.covered(name, {"compute"}), rank.at("compute_ps"));
        EXPECT_EQ(trace.covered(name, {"collectives", "sends", "receives"}),
                  rank.at("communication_ps"));
        EXPECT_EQ(trace.covered(name, {"memory"}), rank.at("memory_ps"));
        EXPECT_EQ(trace.covered(name, {"compute", "collectives", "sends", "receives"}) -
                      trace.covered(name, {"compute"}),
                  rank.at("exposed_communication_ps").get<std::uint64_t>() +
                      rank.at("waiting_ps").get<std::uint64_t>());
        EXPECT_GE(ends[name], rank.at("finish_ps"));
    }
    expect_flows_pair_up(trace, result.at("counts").at("messages"));
}

// The counters hold for an interval each, so that their values add up to what the links carried.
TEST_P(Runs, CountersAddUpToTheLinks) {
    const Json result = Json::parse(run("out", {"--timeline=" + folder.file("trace")}));
    const ReadTrace trace = read_perfetto(read_bytes(folder.file("trace")));
    if (result.at("backend") == "congestion_unaware") {
        EXPECT_TRUE(trace.counters.empty());
        return;
    }
    std::map<std::string, std::int64_t> carried;
    for (const auto& [track, counter] : trace.counters) {
        for (const auto& [at, bytes] : counter.values) {
            carried[counter.name] += bytes;
        }
    }
    std::map<std::string, std::int64_t> links;
    for (const Json& link : result.at("links")) {
        links[link.at("from").get<std::string>() + " -> " + link.at("to").get<std::string>()] +=
            link.at("bytes").get<std::int64_t>();
    }
    EXPECT_EQ(carried, links);
}

TEST_P(Runs, ChangeNothingOfTheResult) {
    const std::string with = run("with", {"--timeline=" + folder.file("trace")});
    const std::string again = run("again", {"--timeline=" + folder.file("trace2")});
    EXPECT_EQ(with, run("without"));
    EXPECT_EQ(with, again);
    EXPECT_EQ(read_bytes(folder.file("trace")), read_bytes(folder.file("trace2")));
}

// Six decimals of a microsecond are picoseconds, which a double of that size still tells apart.
TEST_P(Runs, AChromeTraceHasTheSameSlices) {
    run("out", {"--timeline=" + folder.file("trace")});
    run("again", {"--timeline=" + folder.file("trace.json")});
    using Slice = std::tuple<std::string, std::uint64_t, std::uint64_t>;
    std::multiset<Slice> perfetto;
    for (const ReadSlice& slice : read_perfetto(read_bytes(folder.file("trace"))).slices) {
        perfetto.emplace(slice.name, slice.begin, slice.end);
    }
    std::multiset<Slice> chrome;
    const auto ps = [](const Json& microseconds) {
        return static_cast<std::uint64_t>(std::llround(microseconds.get<double>() * 1e6));
    };
    const Json trace = Json::parse(read_bytes(folder.file("trace.json")));
    for (const Json& event : trace.at("traceEvents")) {
        if (event.at("ph") == "X") {
            const std::uint64_t begin = ps(event.at("ts"));
            chrome.emplace(event.at("name"), begin, begin + ps(event.at("dur")));
        }
    }
    EXPECT_FALSE(perfetto.empty());
    EXPECT_EQ(chrome, perfetto);
}

INSTANTIATE_TEST_SUITE_P(
    Timelines,
    Runs,
    testing::Combine(testing::ValuesIn(kCases),
                     testing::Values("congestion_unaware", "congestion_aware", "flow", "packet")),
    [](const auto& param) {
        return fmt::format("{}_{}", std::get<0>(param.param).name, std::get<1>(param.param));
    });

TEST(TimelineOptionsOfRun, AreRefusedWhereTheyMeanNothing) {
    const ScratchFolder folder;
    const std::string study = folder.write("study.yml", kCases[0].study + network("flow"));
    const auto error = [&](const Arguments& more) {
        Arguments arguments = {"run", study};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const ProgramRun ran = run_captured(arguments);
        EXPECT_EQ(ran.status, 2);
        return ran.error;
    };
    EXPECT_THAT(error({"--timeline-ranks=0"}), HasSubstr("--timeline-ranks goes with --timeline"));
    EXPECT_THAT(error({"--timeline=" + folder.file("none/trace")}), HasSubstr("cannot write"));
    EXPECT_THAT(error({"--timeline=" + folder.file("t"), "--timeline-ranks=x"}),
                HasSubstr("is no list of ranks"));
    EXPECT_THAT(error({"--timeline=" + folder.file("t"), "--timeline-least=7"}),
                HasSubstr("not a time with a unit"));
}

TEST(TimelineOptionsOfRun, ChooseRanksAndTimes) {
    const ScratchFolder folder;
    const std::string study = folder.write("study.yml", kCases[0].study + network("flow"));
    const ProgramRun ran = run_captured({"run",
                                         study,
                                         "--quiet",
                                         "--timeline=" + folder.file("t"),
                                         "--timeline-ranks=1,4-5",
                                         "--timeline-from=50us",
                                         "--timeline-until=120us",
                                         "--timeline-least=2us"});
    ASSERT_EQ(ran.status, 0) << ran.error;
    const ReadTrace trace = read_perfetto(read_bytes(folder.file("t")));
    EXPECT_FALSE(trace.slices.empty());
    for (const ReadSlice& slice : trace.slices) {
        EXPECT_TRUE(slice.process == "rank 1" || slice.process == "rank 4" ||
                    slice.process == "rank 5")
            << slice.process;
        EXPECT_GE(slice.end, 50'000'000U);
        // A message that began in time may arrive later.
        EXPECT_TRUE(slice.instant || slice.begin <= 120'000'000U) << slice.begin;
        EXPECT_TRUE(slice.instant || slice.end - slice.begin >= 2'000'000U);
    }
}

}  // namespace
}  // namespace astra::test
