// Flow sets, recorded messages and background traffic through the whole program.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "astra/simulation/flow_statistics.h"
#include "tests/support/experiment.h"
#include "tests/support/flow_text.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

// A switch of 400 Gbit/s and 500 ns a link, without a workload.
std::string network(std::uint32_t ranks, const std::string& backend = "congestion_unaware") {
    return fmt::format(
        "network:\n  backend: {}\n  dimensions:\n"
        "    - {{topology: switch, ranks: {}, bandwidth: 400Gbps, latency: 500ns}}\n",
        backend,
        ranks);
}

struct Written {
    ProgramRun run;
    nlohmann::json result;
    std::string flows_csv;
    std::string result_text;
};

Written run_files(const ScratchFolder& folder,
                  const std::string& study,
                  const Arguments& more = {}) {
    Arguments arguments = {
        "run", folder.write("study.yml", study), "--output=" + folder.file("out")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Written written;
    written.run = run_captured(arguments);
    written.result_text = content(folder.file("out/result.json"));
    written.result = nlohmann::json::parse(written.result_text, nullptr, false);
    written.flows_csv = content(folder.file("out/flows.csv"));
    return written;
}

std::vector<FlowRecord> lasting(std::vector<std::uint64_t> durations_ps) {
    std::vector<FlowRecord> flows;
    for (const std::uint64_t duration_ps : durations_ps) {
        flows.push_back({1, RankId{0}, RankId{1}, {10}, 0, {100}, {100 + duration_ps}, 0});
    }
    return flows;
}

// Flows of 1 … 1000 ps, shuffled by a stride that is coprime: at least 50 % do not exceed 500, and
// so on. The mean is 500.5.
TEST(FlowStatisticsTest, PercentilesAreByNearestRank) {
    std::vector<std::uint64_t> durations_ps;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        durations_ps.push_back(1 + i * 617 % 1000);
    }
    const FlowStatistics s = flow_statistics(lasting(durations_ps));
    EXPECT_EQ(s.count, 1000U);
    EXPECT_EQ(s.bytes, 10'000U);
    EXPECT_EQ(s.makespan.ps, 1000U);
    EXPECT_EQ(s.mean_finish.ps, 601U);
    EXPECT_EQ(s.least.ps, 1U);
    EXPECT_EQ(s.mean.ps, 501U);
    EXPECT_EQ(s.p50.ps, 500U);
    EXPECT_EQ(s.p90.ps, 900U);
    EXPECT_EQ(s.p99.ps, 990U);
    EXPECT_EQ(s.p999.ps, 999U);
    EXPECT_EQ(s.most.ps, 1000U);
}

// The percentiles of ten are the 5th, 9th, 10th and 10th; of one, that one; of none, nothing.
TEST(FlowStatisticsTest, FewFlowsHavePercentilesToo) {
    const FlowStatistics ten = flow_statistics(lasting({10, 9, 8, 7, 6, 5, 4, 3, 2, 1}));
    EXPECT_EQ(ten.p50.ps, 5U);
    EXPECT_EQ(ten.p90.ps, 9U);
    EXPECT_EQ(ten.p99.ps, 10U);
    EXPECT_EQ(ten.p999.ps, 10U);
    EXPECT_EQ(flow_statistics(lasting({3})).p50.ps, 3U);
    EXPECT_EQ(flow_statistics({}).count, 0U);
    EXPECT_EQ(flow_statistics({}).makespan.ps, 0U);
}

// 1,000,000 B at 400 Gbit/s take 20 us on the wire and 1 us of latency. Flow 2 follows flow 1; flow
// 7 has no byte and starts at 2 us.
TEST(FlowSetRun, WritesEveryFlow) {
    const ScratchFolder folder;
    folder.write("chain.flows", "1 0 1 1000000 0\n2 1 3 1000000 1\n7 3 0 0 0 2us\n");
    const Written written =
        run_files(folder, network(8), {"--flows=" + folder.file("chain.flows")});
    ASSERT_EQ(written.run.status, 0) << written.run.error;
    EXPECT_EQ(written.run.error, "");
    EXPECT_EQ(written.flows_csv,
              "id,src,dst,bytes,after,start_ps,finish_ps,duration_ps,slowdown\n"
              "1,0,1,1000000,0,0,21000000,21000000,1.0000\n"
              "2,1,3,1000000,1,21000000,42000000,21000000,1.0000\n"
              "7,3,0,0,0,2000000,3000000,1000000,1.0000\n");
    const nlohmann::json& result = written.result;
    EXPECT_EQ(result["simulated_ps"], 42'000'000);
    // Mean duration (21 + 21 + 1) / 3 us, mean finish (21 + 42 + 3) / 3 us.
    EXPECT_EQ(result["flows"],
              nlohmann::json::parse(
                  R"({"count": 3, "bytes": 2000000, "makespan_ps": 42000000,
                      "mean_finish_ps": 22000000, "duration_ps": {"min": 1000000,
                      "mean": 14333333, "p50": 21000000, "p90": 21000000, "p99": 21000000,
                      "p999": 21000000, "max": 21000000},
                      "slowdown": {"p50": 1.0, "p99": 1.0, "max": 1.0}})"));
    EXPECT_EQ(result["counts"]["messages"], 3);
    EXPECT_EQ(result["counts"]["message_bytes"], 2'000'000);
    EXPECT_EQ(result["configuration"]["workload"]["flows"], "chain.flows");
    ASSERT_EQ(result["ranks"].size(), 3U);
    // Rank 0 communicates from 0 to 21 us; the other flow, from 2 to 3 us, lies within.
    EXPECT_EQ(result["ranks"][0]["communication_ps"], 21'000'000);
    EXPECT_EQ(result["ranks"][0]["finish_ps"], 21'000'000);
    EXPECT_EQ(result["ranks"][1]["communication_ps"], 42'000'000);
    // Rank 3 receives from 21 to 42 us and sends from 2 to 3 us.
    EXPECT_EQ(result["ranks"][2]["rank"], 3);
    EXPECT_EQ(result["ranks"][2]["communication_ps"], 22'000'000);
    EXPECT_EQ(result["ranks"][2]["idle_ps"], 20'000'000);
    EXPECT_THAT(written.run.out, HasSubstr("flows            3, "));
    EXPECT_THAT(written.run.out, HasSubstr("makespan 42 us, mean finish 22 us"));
    EXPECT_THAT(written.run.out, HasSubstr("median 21 us"));
}

// network/flow_sets.py's ring16_1m: 30 dependent steps of 64 KiB. On the wire 65,536 · 8 / 400e9 s
// = 1,310,720 ps; two links of 500 ns.
TEST(FlowSetRun, ARingOfSixteenTakesThirtySteps) {
    const ScratchFolder folder;
    folder.write("ring.flows", ring_flows(16, 1U << 20));
    const std::string study = "workload: {flows: ring.flows}\n";
    const Written unaware = run_files(folder, study + network(16), {"--record=flows"});
    ASSERT_EQ(unaware.run.status, 0) << unaware.run.error;
    EXPECT_EQ(unaware.result["simulated_ps"], 30 * (1'310'720 + 1'000'000));
    EXPECT_EQ(unaware.result["flows"]["count"], 480);
    EXPECT_EQ(std::count(unaware.flows_csv.begin(), unaware.flows_csv.end(), '\n'), 481);
    // Stored and forwarded, the message is on the wire twice.
    const Written aware = run_files(folder, study + network(16, "congestion_aware"));
    EXPECT_EQ(aware.result["simulated_ps"], 30 * (2 * 1'310'720 + 1'000'000));
}

TEST(FlowSetRun, ReplacesAnyWorkload) {
    const ScratchFolder folder;
    const std::string flows = "--flows=" + folder.write("one.flows", "1 0 1 0 0\n");
    const std::string generated =
        "workload: {generate: {kind: training}, groups: nowhere.json}\n" + network(8);
    EXPECT_EQ(run_files(folder, generated, {flows}).result["simulated_ps"], 1'000'000);

    Experiment experiment;
    write_files(experiment, folder);
    const ProgramRun run = run_captured({"run",
                                         "--system-configuration=" + folder.file("system.json"),
                                         "--network-configuration=" + folder.file("network.yml"),
                                         flows});
    EXPECT_EQ(run.status, 0) << run.error;
    EXPECT_THAT(run.out, HasSubstr("simulated time   500 ns"));
    const ProgramRun check = run_captured({"run", folder.file("study.yml"), flows, "--check"});
    EXPECT_EQ(check.out, "valid: 2 ranks, 0 ops, 1 flows\n");
}

// On congestion_unaware jobs do not feel each other: the flows run from 5 us to 26 us, 47 us; the
// all-reduce of 8 MB over two ranks sends 4 MB twice, (80 + 1) us each.
std::string two_kinds(const ScratchFolder& folder) {
    folder.write("chain.flows", "1 0 1 1000000 0\n2 1 0 1000000 1\n");
    return "jobs:\n"
           "  - {name: traced, ranks: [2, 3], workload: {generate: {kind: collective, collective: "
           "all_reduce, bytes: 8MB}}}\n"
           "  - {name: \"flow,set\", ranks: [1, 0], start: 5us, workload: {flows: chain.flows}}\n"
           "system: {endpoint_delay: 0ns}\n" +
           network(4);
}

// Two flows of 20 us on the wire and 1 us of latency share the receiver's link: 41 us in place
// of 21.
TEST(FlowSetRun, TellsHowMuchLongerThanAlone) {
    const ScratchFolder folder;
    folder.write("two.flows", "1 0 2 1000000 0\n2 1 2 1000000 0\n");
    const Written written =
        run_files(folder, network(4), {"--flows=" + folder.file("two.flows"), "--backend=flow"});
    ASSERT_EQ(written.run.status, 0) << written.run.error;
    EXPECT_EQ(written.flows_csv,
              "id,src,dst,bytes,after,start_ps,finish_ps,duration_ps,slowdown\n"
              "1,0,2,1000000,0,0,41000000,41000000,1.9524\n"
              "2,1,2,1000000,0,0,41000000,41000000,1.9524\n");
    EXPECT_NEAR(written.result["flows"]["slowdown"]["max"].get<double>(), 41.0 / 21.0, 1e-4);
}

TEST(FlowSetRun, RunsBesideTraces) {
    const ScratchFolder folder;
    const Written plain = run_files(folder, two_kinds(folder));
    ASSERT_EQ(plain.run.status, 0) << plain.run.error;
    EXPECT_EQ(plain.flows_csv,
              "id,src,dst,bytes,after,start_ps,finish_ps,duration_ps,slowdown,job\n"
              "1,1,0,1000000,0,5000000,26000000,21000000,1.0000,\"flow,set\"\n"
              "2,0,1,1000000,1,26000000,47000000,21000000,1.0000,\"flow,set\"\n");
    EXPECT_EQ(plain.result["ranks"].size(), 4U);
    EXPECT_EQ(plain.result["ranks"][0]["finish_ps"], 47'000'000);
    EXPECT_EQ(plain.result["ranks"][1]["idle_ps"], 5'000'000);
    EXPECT_EQ(plain.result["ranks"][3]["finish_ps"], 162'000'000);
    EXPECT_EQ(plain.result["flows"]["makespan_ps"], 42'000'000);
    EXPECT_EQ(plain.result["counts"]["messages"], 2 + 4);

    const Written recorded = run_files(folder, two_kinds(folder), {"--record=flows"});
    EXPECT_EQ(recorded.flows_csv,
              plain.flows_csv +
                  "1,2,3,4000000,0,0,81000000,81000000,1.0000,traced\n"
                  "2,3,2,4000000,0,0,81000000,81000000,1.0000,traced\n"
                  "3,3,2,4000000,0,81000000,162000000,81000000,1.0000,traced\n"
                  "4,2,3,4000000,0,81000000,162000000,81000000,1.0000,traced\n");
    EXPECT_EQ(recorded.result["flows"]["count"], 6);
    EXPECT_EQ(recorded.result["flows"]["makespan_ps"], 162'000'000);
    EXPECT_EQ(recorded.result["simulated_ps"], plain.result["simulated_ps"]);
    EXPECT_EQ(recorded.result["counts"], plain.result["counts"]);
}

// Nothing but the list of flows may change when messages are recorded.
TEST(RecordedMessages, ChangeNoOtherResult) {
    Experiment experiment;
    experiment.backend = "congestion_aware";
    experiment.traces = everywhere(8, {collective(1, CollectiveKind::AllReduce, 1U << 20)});
    const ScratchFolder folder;
    write_files(experiment, folder);
    const auto result = [&](const Arguments& more) {
        Arguments arguments = run_arguments(experiment, folder);
        arguments.push_back("--output=" + folder.file("out"));
        arguments.insert(arguments.end(), more.begin(), more.end());
        EXPECT_EQ(run_captured(arguments).status, 0);
        return nlohmann::json::parse(content(folder.file("out/result.json")));
    };
    const nlohmann::json plain = result({});
    EXPECT_FALSE(plain.contains("flows"));
    nlohmann::json recorded = result({"--record=links,flows"});
    // 2·7 steps of 8 messages of 128 KiB: 500 ns and 2,441,406.25 ps rounded up.
    EXPECT_EQ(recorded["flows"]["count"], 112);
    EXPECT_EQ(recorded["flows"]["bytes"], 112 * 131'072);
    EXPECT_EQ(recorded["flows"]["duration_ps"]["min"], 2'941'407);
    EXPECT_EQ(recorded["flows"]["duration_ps"]["max"], 2'941'407);
    recorded.erase("flows");
    EXPECT_EQ(recorded, plain);
}

// 20 ms of flows beside 16 ranks that offer 10 Gbit/s in messages of 64 KiB: 6103.5 of them,
// deviation 78. Every message crosses two links.
TEST(BackgroundRun, EndsWithTheWorkloadAndLoadsTheLinks) {
    const ScratchFolder folder;
    folder.write("long.flows", "1 0 1 999950000 0\n");
    const std::string study = "workload: {flows: long.flows}\n" + network(16);
    const std::string traffic = "background: {rate: 10Gbps}\n";
    const Written written = run_files(folder, traffic + study);
    ASSERT_EQ(written.run.status, 0) << written.run.error;
    const nlohmann::json& result = written.result;
    EXPECT_EQ(result["simulated_ps"], 20'000'000'000);
    EXPECT_EQ(result["flows"]["count"], 1);
    EXPECT_EQ(result["counts"]["messages"], 1);
    const std::uint64_t messages = result["counts"]["background_messages"];
    EXPECT_NEAR(static_cast<double>(messages), 6103.5, 5 * 78);
    std::uint64_t bytes = 0;
    for (const auto& link : result["links"]) {
        bytes += link["bytes"].get<std::uint64_t>();
    }
    EXPECT_EQ(bytes, 2 * (999'950'000 + messages * 65'536));
    // An event for the start, one for the flow; two for a message, but for those on their way.
    EXPECT_GT(result["counts"]["events"], messages);
    EXPECT_LE(result["counts"]["events"], 2 + 2 * messages);

    EXPECT_EQ(run_files(folder, traffic + study).result_text, written.result_text);
    EXPECT_NE(run_files(folder, traffic + study, {"--seed=2"}).result["counts"], result["counts"]);
    EXPECT_EQ(run_files(folder, study, {"--seed=2"}).result["counts"]["background_messages"], 0);
}

TEST(BackgroundRun, SlowsTheWorkloadDownWhereLinksAreShared) {
    const ScratchFolder folder;
    folder.write("ring.flows", ring_flows(16, 1U << 20));
    const std::string study = "workload: {flows: ring.flows}\n" + network(16, "congestion_aware");
    const Written alone = run_files(folder, study);
    const Written shared = run_files(folder, study + "background: {rate: 100Gbps}\n");
    EXPECT_GT(shared.result["simulated_ps"], alone.result["simulated_ps"]);
    EXPECT_LT(shared.result["simulated_ps"], 3 * alone.result["simulated_ps"].get<std::uint64_t>());
}

Experiment with_background(const std::string& keys) {
    Experiment experiment;
    experiment.dimensions = {{"Switch", 2, 50, 500'000}};
    experiment.network_only();
    experiment.settings = {"background={" + keys + "}"};
    return experiment;
}

// Rank 1 waits for a message that nobody sends.
TEST(BackgroundRun, HidesNoDeadlock) {
    Experiment experiment = with_background("rate: 8Mbps, size: 1KB");
    experiment.traces = {{compute(1, 10)}, {receive(1, 0, 1, 7, 100)}};
    const ProgramRun run = run_captured(experiment);
    EXPECT_EQ(run.status, 3);
    EXPECT_THAT(run.error, HasSubstr("cannot finish: deadlock"));
    EXPECT_THAT(run.error, HasSubstr("rank 1: node 1 (receive) waits for a message from rank 0"));
}

// Two ranks offer 2000 messages a second together. Both compute for 3 s, of which traffic uses the
// first; then, after an all-reduce, for half a second: 3000 messages, deviation 55. Without the
// pause there would be 7000.
TEST(BackgroundRun, PausesWhileNothingMovesAndGoesOn) {
    Experiment experiment = with_background("rate: 8Mbps, size: 1KB");
    experiment.traces = everywhere(2,
                                   {compute(1, 3'000'000),
                                    collective(2, CollectiveKind::AllReduce, 1U << 20, {1}),
                                    compute(3, 500'000, {2})});
    const RunResult result = run(experiment);
    EXPECT_NEAR(static_cast<double>(result.counts.background_messages), 3000, 5 * 55);
}

// Ops that finish count as moves: five of 0.8 s in a row, and no message.
TEST(BackgroundRun, GoesOnWhileOpsFinish) {
    Experiment experiment = with_background("rate: 8Mbps, size: 1KB");
    experiment.traces = everywhere(2,
                                   {compute(1, 800'000),
                                    compute(2, 800'000, {1}),
                                    compute(3, 800'000, {2}),
                                    compute(4, 800'000, {3}),
                                    compute(5, 800'000, {4})});
    EXPECT_NEAR(static_cast<double>(run(experiment).counts.background_messages), 8000, 5 * 90);
}

// Messages that are received count as moves: 4 s of an all-reduce in steps of 1/8 s, without any
// op. 2^29 B in 16 chunks, each 2 messages of 2^24 B, one after the other at 2^27 B/s.
TEST(BackgroundRun, GoesOnWhileMessagesMove) {
    Experiment experiment = with_background("rate: 8Mbps, size: 1KB");
    experiment.settings.emplace_back("network.dimensions.0.bandwidth=128MiB/s");
    experiment.chunks = 16;
    experiment.traces = everywhere(2, {collective(1, CollectiveKind::AllReduce, 1U << 29)});
    const RunResult result = run(experiment);
    EXPECT_NEAR(static_cast<double>(result.simulated.ps), 4e12, 1e9);
    EXPECT_NEAR(static_cast<double>(result.counts.background_messages), 8000, 5 * 90);
}

}  // namespace
}  // namespace astra::test
