// Whole runs on networks that are shared: several jobs, background traffic, links that fail, what
// is recorded, and what options change.
#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"
#include "tests/network/test_network.h"
#include "tests/support/experiment.h"
#include "tests/support/flow_text.h"
#include "tests/support/network_models.h"

namespace astra::test {
namespace {

class NetworkRun : public testing::TestWithParam<NetworkModel> {
  protected:
    bool has_packets() const { return GetParam().backend->has_packets(); }
    bool links_may_fail() const { return GetParam().backend->links_may_fail; }
    // `network`: entries of the section beside the model's.
    std::string network(const std::string& entries) const {
        return "network: {" + GetParam().keys() + ", " + entries + "}\n";
    }
};

const auto kModelName = [](const testing::TestParamInfo<NetworkModel>& info) {
    return info.param.name();
};
INSTANTIATE_TEST_SUITE_P(All, NetworkRun, testing::ValuesIn(network_models()), kModelName);

// Two leaves of four ranks and one spine: all that leaves a leaf shares one link of 100 Gb/s, which
// moves a byte in 80 ps. L = 500 ns.
const char* const kOneSpine =
    "dimensions: [{topology: leaf_spine, ranks: 8, hosts_per_leaf: 4, spines: 1, bandwidth: "
    "100Gbps, latency: 500ns}]";
// Four spines: full bisection.
const char* const kFourSpines =
    "dimensions: [{topology: leaf_spine, ranks: 8, hosts_per_leaf: 4, spines: 4, bandwidth: "
    "100Gbps, latency: 500ns}]";

// --- several jobs ---

struct JobTimes {
    std::uint64_t collective_ps = 0;
    std::uint64_t flows_ps = 0;
};

// Ranks 0 and 4 all-reduce 8 MiB; ranks 1 and 5 send each other 64 MiB. Either job may be left out.
JobTimes run_jobs(const std::string& network, bool collective, bool flows) {
    const ScratchFolder folder;
    folder.write("pair.flows", "1 0 1 67108864 0\n2 1 0 67108864 0\n");
    std::string study = "jobs:\n";
    if (collective) {
        study +=
            "  - {name: a, ranks: [0, 4], workload: {generate: {kind: collective, bytes: "
            "8MiB}}}\n";
    }
    if (flows) {
        study += "  - {name: b, ranks: [1, 5], workload: {flows: pair.flows}}\n";
    }
    study += "system: {endpoint_delay: 0ns, collectives: {all_reduce: ring}}\n" + network;
    Simulation simulation(Study::from_file(folder.write("study.yml", study)));
    simulation.run({});
    const RunResult result = simulation.result();
    JobTimes times;
    for (const RankRecord& rank : result.ranks) {
        std::uint64_t& time = index(rank.rank) % 4 == 0 ? times.collective_ps : times.flows_ps;
        time = std::max(time, rank.finish.ps);
    }
    return times;
}

// Alone, the collective takes two steps of 4 MiB over four links, with fair shares 2(4L + w),
// w = 2^22 · 80 ps, and the flows of 64 MiB 4L + 16w. Together the uplinks give each half while
// both use them: 2(4L + 2w), and 4L + 18w. Whole messages are passed on one by one: the large ones
// come to the uplinks after 16w, when the collective is done. Packets wait, too, and are
// acknowledged; under dcqcn the flows come back to line rate slowly once they are alone, and the
// second message of a connection begins at the rate that the first one ended with.
TEST_P(NetworkRun, JobsSlowEachOtherOnSharedLinks) {
    constexpr std::uint64_t latency = 4 * 500'000;
    constexpr std::uint64_t wire = (std::uint64_t{1} << 22) * 80;
    const std::string network = this->network(kOneSpine);
    const JobTimes a = run_jobs(network, true, false);
    const JobTimes b = run_jobs(network, false, true);
    const JobTimes both = run_jobs(network, true, true);
    const BackendInfo& backend = *GetParam().backend;
    const Contention contention = backend.contention;
    if (contention != Contention::Packet) {
        const LinkProperties link{{100'000'000'000}, {500'000}};
        EXPECT_EQ(a.collective_ps, 2 * alone_ps(backend, 4, link, std::uint64_t{1} << 22));
        EXPECT_EQ(b.flows_ps, alone_ps(backend, 4, link, std::uint64_t{1} << 26));
    }
    if (contention == Contention::None || contention == Contention::Message) {
        EXPECT_EQ(both.collective_ps, a.collective_ps);
        EXPECT_EQ(both.flows_ps, b.flows_ps);
        return;
    }
    if (contention == Contention::Fair) {
        EXPECT_EQ(both.collective_ps, a.collective_ps + 2 * wire);
        EXPECT_EQ(both.flows_ps, b.flows_ps + 2 * wire);
    }
    // Turns are whole packets.
    constexpr std::uint64_t packet = std::uint64_t{4096 + 64} * 80;
    EXPECT_GE(both.collective_ps, 2 * a.collective_ps - 2 * latency - packet);
    EXPECT_LT(both.collective_ps, 4 * a.collective_ps);
    EXPECT_GT(both.flows_ps, b.flows_ps + wire);
    EXPECT_LT(both.flows_ps, 4 * b.flows_ps);
}

// --- weights ---

// Two paths of four links from a to b, one of them of narrow links that weigh 4. What goes from one
// host to the other takes the wide one, which has the same length otherwise.
TEST_P(NetworkRun, MessagesTakeThePathOfTheLeastWeight) {
    const ScratchFolder folder;
    const std::string graph =
        folder.write("graph.yml",
                     "hosts: [a, b]\nswitches: [s, t, u, v]\nbandwidth: 100Gbps\nlatency: 1us\n"
                     "links:\n  - {from: a, to: s}\n  - {from: b, to: v}\n"
                     "  - {from: s, to: u, bandwidth: 25Gbps, weight: 4}\n"
                     "  - {from: u, to: v, bandwidth: 25Gbps, weight: 4}\n"
                     "  - {from: s, to: t}\n  - {from: t, to: v}\n");
    for (const std::string routing : {"ecmp", "dimension_order", "spray"}) {
        if (routing == "spray" && !GetParam().backend->can_split) {
            continue;
        }
        const RunResult result =
            run_study("workload: {generate: {kind: collective, bytes: 1MiB}}\n" +
                      network("routing: " + routing +
                              ", dimensions: [{topology: custom, file: " + graph + "}]"));
        std::uint64_t by_t = 0;
        for (const LinkRecord& link : result.links) {
            EXPECT_TRUE(link.from != "u" && link.to != "u") << link.from << " -> " << link.to;
            by_t += link.to == "t" ? link.bytes.count : 0;
        }
        EXPECT_GE(by_t, std::uint64_t{2} << 20U);
        EXPECT_THAT(result.warnings,
                    testing::Not(testing::Contains(testing::HasSubstr("very different"))));
    }
}

// --- background traffic ---

TEST_P(NetworkRun, BackgroundTrafficSlowsTheWorkloadWhereLinksAreShared) {
    const std::string study =
        "workload: {generate: {kind: collective, bytes: 8MiB}}\nsystem: {endpoint_delay: 0ns}\n" +
        network(kFourSpines);
    const std::string traffic = "background: {rate: 30Gbps, size: 32KiB, seed: 3}\n";
    const RunResult alone = run_study(study);
    const RunResult busy = run_study(study + traffic);
    EXPECT_GT(busy.counts.background_messages, 0U);
    EXPECT_EQ(busy.counts.messages, alone.counts.messages);
    if (GetParam().backend->shares_links()) {
        EXPECT_GT(busy.simulated, alone.simulated);
        EXPECT_LT(busy.simulated.ps, 4 * alone.simulated.ps);
    } else {
        EXPECT_EQ(busy.simulated, alone.simulated);
    }
    const RunResult again = run_study(study + traffic);
    EXPECT_EQ(again.simulated, busy.simulated);
    EXPECT_EQ(again.counts.events, busy.counts.events);
}

// A ring of 8 is offered 10 Gbit/s a rank on links of 0.8 Gbit/s, so that the messages pile up for
// as long as the all-reduce takes, and it takes ever longer. 1024 and 4 a rank are enough.
TEST_P(NetworkRun, BackgroundTrafficBeyondTheLinksEndsTheRunSoon) {
    const std::string study =
        "workload: {generate: {kind: collective, bytes: 1MiB}}\n" +
        network("dimensions: [{topology: ring, ranks: 8, bandwidth: 100MB/s, latency: 1us}]");
    RunLimits limits;
    limits.max_events = 1'000'000;
    if (!GetParam().backend->shares_links()) {
        EXPECT_GT(run_study(study + "background: {rate: 10Gbps}\n", limits).simulated.ps, 0U);
        return;
    }
    try {
        run_study(study + "background: {rate: 10Gbps}\n", limits);
        FAIL();
    } catch (const SimulationError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("cannot finish: 1057 background messages"));
        EXPECT_THAT(error.what(), testing::HasSubstr("times as much as possible"));
    }
    // Traffic that ends, so that what piled up drains.
    const RunResult burst = run_study(study + "background: {rate: 10Gbps, end: 5ms}\n", limits);
    EXPECT_GT(burst.counts.background_messages, 0U);
    EXPECT_THAT(burst.warnings, testing::Contains(testing::HasSubstr("its messages pile up")));
}

// --- the same trace everywhere ---

// Six layers of an all-reduce each on eight ranks: what is simulated does not depend on the model.
TEST_P(NetworkRun, ATrainingTraceDoesTheSameWork) {
    const std::string workload =
        "workload: {generate: {kind: training, layers: 6, forward: 100us, backward: 200us, bytes: "
        "3MiB}}\nsystem: {chunks: 2}\n";
    const RunResult reference = run_study(workload + "network: {backend: congestion_unaware, " +
                                          std::string(kFourSpines) + "}\n");
    const RunResult result = run_study(workload + network(kFourSpines));
    EXPECT_EQ(result.counts.ops, reference.counts.ops);
    EXPECT_EQ(result.counts.messages, reference.counts.messages);
    EXPECT_EQ(result.counts.message_bytes, reference.counts.message_bytes);
    EXPECT_EQ(result.collectives.size(), reference.collectives.size());
    for (const RankRecord& rank : result.ranks) {
        // 6 · (100 + 200) us of computing.
        EXPECT_EQ(rank.compute.ps, 1'800'000'000U);
        EXPECT_GE(rank.finish.ps, 1'800'000'000U);
    }
    for (const LinkRecord& link : result.links) {
        EXPECT_TRUE(!result.links_are_shared || link.busy.ps <= result.simulated.ps) << link.from;
    }
    EXPECT_TRUE(result.warnings.empty());
}

// --- failures ---

// Eight flows of 4 MiB, sprayed over four spines: w = 2^22 · 80 ps = 335.5 us. Leaf 0 loses its
// links to and from spine 0 at 50 us, a quarter of what it has: on the flow backend what is left
// then takes 4/3 as long, and less if they come back.
std::string with_failures(const std::string& network, const std::string& failures) {
    std::string text = network;
    return "workload: {flows: across.flows}\n" +
           text.replace(text.rfind('}'), 1, ", failures: [" + failures + "]}");
}

std::string across_flows() {
    std::string text;
    for (std::uint32_t source = 0; source < 8; ++source) {
        text += fmt::format("{} {} {} 4194304 0\n", source + 1, source, (source + 4) % 8);
    }
    return text;
}

RunResult run_across(const std::string& study) {
    const ScratchFolder folder;
    folder.write("across.flows", across_flows());
    Simulation simulation(Study::from_file(folder.write("study.yml", study)));
    simulation.run({});
    return simulation.result();
}

TEST_P(NetworkRun, FailuresTakeLongerButEnd) {
    if (!links_may_fail()) {
        return;
    }
    const std::string net = network(kFourSpines + std::string(", routing: spray"));
    const auto time = [&](const std::string& failures) {
        const std::string study = with_failures(net, failures);
        const RunResult result = run_across(study);
        const RunResult again = run_across(study);
        EXPECT_EQ(result.simulated, again.simulated);
        EXPECT_EQ(result.counts.events, again.counts.events);
        return result.simulated.ps;
    };
    const std::uint64_t whole = time("");
    const std::uint64_t late = time("{from: leaf0, to: spine0, at: 10ms}");
    const std::uint64_t while_gone = time("{from: leaf0, to: spine0, at: 50us, until: 150us}");
    const std::uint64_t for_good = time("{from: leaf0, to: spine0, at: 50us}");
    if (!has_packets()) {
        // 50 us at the whole rate; then 100 us at 3/4 of it, or all that is left; 2 us of latency.
        constexpr std::uint64_t wire = (std::uint64_t{1} << 22) * 80;
        EXPECT_EQ(whole, 2'000'000 + wire);
        EXPECT_NEAR(static_cast<double>(while_gone), 2e6 + wire + 25e6, 2);
        EXPECT_NEAR(static_cast<double>(for_good), 50e6 + (wire - 50e6) * 4 / 3 + 2e6, 2);
    }
    EXPECT_EQ(late, whole);
    EXPECT_GT(while_gone, whole);
    EXPECT_LT(while_gone, 10'000'000'000U);
    EXPECT_GE(for_good, while_gone);
    EXPECT_LT(for_good, 10'000'000'000U);
}

// --- records ---

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(const std::string& text) {
    Rows rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::vector<std::string>& row = rows.emplace_back();
        std::istringstream fields(line);
        for (std::string field; std::getline(fields, field, ',');) {
            row.push_back(field);
        }
    }
    return rows;
}

std::string content(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

std::string header(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

constexpr const char* kPacketHeader =
    "from,to,bytes,busy_ps,payload_bytes,peak_queue_bytes,pauses,marks,trims,drops,repeats,"
    "paused_ps";

// A training trace and a flow set beside it, sampled in intervals that no packet divides.
class Records : public NetworkRun {
  protected:
    ProgramRun run_recorded(const ScratchFolder& folder, const Arguments& more = {}) {
        folder.write("ring.flows", ring_flows(4, 1U << 20));
        const std::string study =
            "jobs:\n  - {name: a, ranks: [0, 2, 4, 6], workload: {generate: {kind: training, "
            "layers: 2, forward: 20us, backward: 30us, bytes: 1MiB}}}\n"
            "  - {name: b, ranks: [1, 3, 5, 7], workload: {flows: ring.flows}}\n" +
            network(kOneSpine) + "output: {sample_interval: 7123ns}\n";
        Arguments arguments = {
            "run", folder.write("study.yml", study), "--quiet", "--output=" + folder.file("out")};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return run_captured(arguments);
    }
};
INSTANTIATE_TEST_SUITE_P(All, Records, testing::ValuesIn(network_models()), kModelName);

// What the intervals count is what the links count, and their fullest queue is the fullest.
void expect_packets_add_up(const Rows& samples, const Rows& links) {
    struct Sum {
        std::uint64_t most_queue = 0;
        std::array<std::uint64_t, 5> counts{};  // paused_ps, marks, trims, drops, repeats
    };
    std::map<std::pair<std::string, std::string>, Sum> sums;
    for (std::size_t i = 1; i < samples.size(); ++i) {
        const auto& row = samples[i];
        Sum& sum = sums[{row[1], row[2]}];
        sum.most_queue = std::max<std::uint64_t>(sum.most_queue, std::stoull(row[8]));
        EXPECT_LE(std::stoull(row[7]), std::stoull(row[8]));
        for (std::size_t k = 0; k < sum.counts.size(); ++k) {
            sum.counts[k] += std::stoull(row[9 + k]);
        }
        EXPECT_LE(std::stoull(row[9]), 7'123'000U);
    }
    for (std::size_t i = 1; i < links.size(); ++i) {
        const auto& row = links[i];
        const Sum& sum = sums[{row[0], row[1]}];
        EXPECT_EQ(sum.most_queue, std::stoull(row[5])) << row[0] << " to " << row[1];
        EXPECT_EQ(sum.counts[0], std::stoull(row[11])) << row[0] << " to " << row[1];
        for (std::size_t k = 1; k < sum.counts.size(); ++k) {
            EXPECT_EQ(sum.counts[k], std::stoull(row[6 + k])) << row[0] << " to " << row[1];
        }
    }
}

TEST_P(Records, AddUp) {
    if (!GetParam().backend->shares_links()) {
        return;
    }
    const ScratchFolder folder;
    const ProgramRun run = run_recorded(folder, {"--record=queues,flows,links,ops"});
    ASSERT_EQ(run.status, 0) << run.error;
    const std::string queues = content(folder.file("out/queues.csv"));
    EXPECT_EQ(header(queues),
              std::string("end_ps,from,to,bytes,rate_bps,utilisation,queue_bytes") +
                  (has_packets() ? ",queue_mean_bytes,queue_max_bytes,paused_ps,marks,trims,drops,"
                                   "repeats"
                                 : ""));
    EXPECT_EQ(header(content(folder.file("out/flows.csv"))),
              "id,src,dst,bytes,after,start_ps,finish_ps,duration_ps,slowdown,job");
    EXPECT_EQ(header(content(folder.file("out/ops.csv"))), "rank,node,name,kind,start_ps,end_ps");
    const std::string links = content(folder.file("out/links.csv"));
    EXPECT_EQ(header(links), has_packets() ? kPacketHeader : "from,to,bytes,busy_ps");

    std::map<std::pair<std::string, std::string>, std::uint64_t> sampled;
    const Rows samples = rows_of(queues);
    for (std::size_t i = 1; i < samples.size(); ++i) {
        const auto& row = samples[i];
        EXPECT_EQ(std::stoull(row[0]) % 7'123'000, 0U);
        sampled[{row[1], row[2]}] += std::stoull(row[3]);
        EXPECT_LE(std::stod(row[5]), 1.0) << fmt::format("{}", fmt::join(row, ","));
    }
    // The last sample is taken when nothing is left to happen. That of a fair flow is cut off
    // to a whole byte, and its record rounded.
    const std::uint64_t rounding = GetParam().backend->contention == Contention::Fair ? 1 : 0;
    const Rows rows = rows_of(links);
    ASSERT_GT(rows.size(), 1U);
    if (has_packets()) {
        expect_packets_add_up(samples, rows);
    }
    for (std::size_t i = 1; i < rows.size(); ++i) {
        const std::uint64_t bytes = std::stoull(rows[i][2]);
        const std::uint64_t sum = sampled[{rows[i][0], rows[i][1]}];
        EXPECT_LE(sum, bytes) << rows[i][0] << " to " << rows[i][1];
        EXPECT_GE(sum + rounding, bytes) << rows[i][0] << " to " << rows[i][1];
    }
    // 24 flows of the ring, and the messages of two all-reduces of four: 2·3·4 each.
    EXPECT_EQ(rows_of(content(folder.file("out/flows.csv"))).size(), 1U + 24 + 2 * 24);
    const nlohmann::json result = nlohmann::json::parse(content(folder.file("out/result.json")));
    EXPECT_EQ(rows_of(content(folder.file("out/ops.csv"))).size(),
              1 + result["counts"]["ops"].get<std::size_t>());
    EXPECT_EQ(result["links"].size(), rows.size() - 1);
    EXPECT_EQ(result["links"][0].contains("trims"), has_packets());
    EXPECT_EQ(result["links"][0].contains("payload_bytes"), has_packets());
}

// Recording changes no result but what it adds.
TEST_P(Records, ChangeNothing) {
    const ScratchFolder folder;
    ASSERT_EQ(run_recorded(folder).status, 0);
    const std::string plain_links = content(folder.file("out/links.csv"));
    const nlohmann::json plain = nlohmann::json::parse(content(folder.file("out/result.json")));
    const bool shares = GetParam().backend->shares_links();
    ASSERT_EQ(
        run_recorded(folder, {shares ? "--record=queues,flows,ops" : "--record=flows,ops"}).status,
        0);
    const nlohmann::json recorded = nlohmann::json::parse(content(folder.file("out/result.json")));
    EXPECT_EQ(content(folder.file("out/links.csv")), plain_links);
    EXPECT_EQ(recorded["simulated_ps"], plain["simulated_ps"]);
    EXPECT_EQ(recorded["ranks"], plain["ranks"]);
    EXPECT_EQ(recorded["counts"]["messages"], plain["counts"]["messages"]);
}

// --- options ---

// One path a flow: which flows meet on a spine depends on the seed, and on it alone.
TEST(NetworkOptions, TheSeedChoosesAmongPaths) {
    const ScratchFolder folder;
    folder.write("across.flows", across_flows());
    for (const NetworkModel& model : network_models()) {
        if (!model.backend->shares_links()) {
            continue;
        }
        const std::string study =
            folder.write("study.yml",
                         "workload: {flows: across.flows}\nnetwork: {" + model.keys() +
                             ", routing: ecmp, " + kFourSpines + "}\n");
        const auto links = [&](int seed) {
            const ProgramRun run = run_captured({"run",
                                                 study,
                                                 "--quiet",
                                                 fmt::format("--seed={}", seed),
                                                 "--output=" + folder.file("out")});
            EXPECT_EQ(run.status, 0) << run.error;
            return content(folder.file("out/links.csv"));
        };
        EXPECT_EQ(links(1), links(1)) << model;
        EXPECT_NE(links(1), links(2)) << model;
    }
}

// The options take the place of what the study says.
TEST(NetworkOptions, BackendAndTransport) {
    const ScratchFolder folder;
    folder.write("across.flows", across_flows());
    const std::string study =
        folder.write("study.yml",
                     "workload: {flows: across.flows}\nnetwork: {backend: flow, packet: "
                     "{transport: none, header: 0B}, routing: ecmp, " +
                         std::string(kFourSpines) + "}\n");
    for (const NetworkModel& model : network_models()) {
        Arguments arguments = {"run",
                               study,
                               "--backend=" + std::string(model.backend->name),
                               "--output=" + folder.file("out")};
        if (!model.transport.empty()) {
            arguments.push_back("--transport=" + model.transport);
        }
        const ProgramRun run = run_captured(arguments);
        ASSERT_EQ(run.status, 0) << run.error;
        const nlohmann::json result =
            nlohmann::json::parse(content(folder.file("out/result.json")));
        const nlohmann::json& network = result["configuration"]["network"];
        EXPECT_EQ(result["backend"], model.backend->name);
        EXPECT_EQ(network["backend"], model.backend->name);
        if (!model.transport.empty()) {
            EXPECT_EQ(network["packet"]["transport"], model.transport);
        }
        const RunResult same = run_across("workload: {flows: across.flows}\nnetwork: {" +
                                          model.keys() + ", routing: ecmp, " + kFourSpines + "}\n");
        EXPECT_EQ(result["simulated_ps"], same.simulated.ps) << model;
    }
}

}  // namespace
}  // namespace astra::test
