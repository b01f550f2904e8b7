// All backends, and all transports of the packet backend, against closed forms: where they must
// agree, and where each is to differ. 50 GB/s move a byte in 20 ps; a packet of 4096 bytes takes
// 81,920 ps.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/network/test_network.h"
#include "tests/support/network_models.h"
#include "tests/validation/case_check.h"

namespace astra::test {
namespace {

constexpr std::uint64_t kByte = 20;
constexpr std::uint64_t kPacket = 4096 * kByte;

struct Plan {
    std::string dimensions;
    std::string algorithm = "ring";
    std::uint64_t bytes = 0;
};

std::string all_reduce_study(const Plan& plan, const std::string& network) {
    return fmt::format(
        "workload: {{generate: {{kind: collective, collective: all_reduce, bytes: {}B}}}}\n"
        "system: {{endpoint_delay: 0ns, collectives: {{all_reduce: {}}}}}\n"
        "network: {{{}, dimensions: [{}]}}\n",
        plan.bytes,
        plan.algorithm,
        network,
        plan.dimensions);
}

std::uint64_t simulated_ps(const Plan& plan, const std::string& network) {
    return run_study(all_reduce_study(plan, network)).simulated.ps;
}

const char* const kRing8 = "{topology: ring, ranks: 8, bandwidth: 50GB/s, latency: 500ns}";
const char* const kTorus =
    "{topology: ring, ranks: 4, bandwidth: 50GB/s, latency: 500ns},"
    "{topology: ring, ranks: 4, bandwidth: 50GB/s, latency: 500ns}";
const char* const kSwitch8 = "{topology: switch, ranks: 8, bandwidth: 50GB/s, latency: 500ns}";

// What a message takes alone over links of 50 GB/s: what the backend says, and of packets, which
// have no headers here, once more the wire time of a packet on every further link (`stored`).
std::uint64_t message_ps(const NetworkModel& model,
                         std::uint32_t links,
                         std::uint64_t latency_ps,
                         std::uint64_t bytes,
                         bool stored = true) {
    if (!model.backend->has_packets()) {
        return alone_ps(*model.backend, links, {{400'000'000'000}, {latency_ps}}, bytes);
    }
    return links * latency_ps + bytes * kByte + (stored ? (links - 1) * kPacket : 0);
}

// Seven equal messages come to a link at the same time: what the last one waits, as long as six
// keep the link busy.
std::uint64_t waits_ps(const NetworkModel& model, std::uint64_t bytes) {
    if (!model.backend->shares_links()) {
        return 0;
    }
    if (model.backend->has_packets()) {
        return 6 * bytes * kByte;
    }
    const LinkProperties link{{400'000'000'000}, {}};
    return 6 * (alone_ps(*model.backend, 1, link, bytes) - alone_ps(*model.backend, 1, link, 0));
}

class EveryModel : public testing::TestWithParam<NetworkModel> {};

const auto kModelName = [](const testing::TestParamInfo<NetworkModel>& info) {
    return info.param.name();
};

INSTANTIATE_TEST_SUITE_P(All, EveryModel, testing::ValuesIn(network_models()), kModelName);

// --- where all agree ---

// 14 steps of 8 MiB to a neighbour over one link. Control packets go the other way round, on links
// that carry nothing else, so that they cost no time. Exact: a packet is 81,920 ps.
TEST_P(EveryModel, NeighboursOnARing) {
    const std::uint64_t expected = 14 * message_ps(GetParam(), 1, 500'000, 8U << 20);
    EXPECT_EQ(simulated_ps({kRing8, "ring", 64U << 20}, GetParam().keys()), expected);
}

// Three steps of 4 MiB in rows, six of 1 MiB in columns, three of 4 MiB in rows.
TEST_P(EveryModel, NeighboursOnATorus) {
    const std::uint64_t expected = 6 * message_ps(GetParam(), 1, 500'000, 4U << 20) +
                                   6 * message_ps(GetParam(), 1, 500'000, 1U << 20);
    EXPECT_EQ(simulated_ps({kTorus, "[ring, ring]", 16U << 20}, GetParam().keys()), expected);
}

// A rate and a size that nothing divides. A packet is rounded up to a picosecond of about 98,304,
// a message's last one is short.
TEST_P(EveryModel, NeighboursWithOddNumbers) {
    const std::string odd =
        "{topology: ring, ranks: 8, bandwidth: 333333333337bps, latency: 12345ps}";
    // The largest eighth of 10,000,019 bytes is 1,250,003.
    const LinkProperties link{{333'333'333'337}, {12'345}};
    const std::uint64_t expected = 14 * (GetParam().backend->has_packets()
                                             ? 12'345 + transfer_ps(1'250'003, 333'333'333'337)
                                             : alone_ps(*GetParam().backend, 1, link, 1'250'003));
    const std::uint64_t got = simulated_ps({odd, "ring", 10'000'019}, GetParam().keys());
    EXPECT_GE(got, expected / 10'000 * 9'999);
    EXPECT_LE(got, expected / 100 * 101);
}

// Headers of 64 bytes are 1.5625 % of the wire, and of it alone.
TEST_P(EveryModel, HeadersCostTheirBytes) {
    const std::uint64_t headers = GetParam().backend->has_packets() ? 2048 * 64 * kByte : 0;
    EXPECT_EQ(simulated_ps({kRing8, "ring", 64U << 20}, GetParam().keys("header: 64B")),
              14 * (message_ps(GetParam(), 1, 500'000, 8U << 20) + headers));
}

// What comes back on the links of a ring that carry no data: nothing, an acknowledgement each 16
// packets, or one a packet; 64 bytes each.
TEST(ControlPackets, AreCounted) {
    const std::map<std::string, std::uint64_t> a_message = {
        {"none", 0}, {"dcqcn", 2048 / 16}, {"ndp", 2048}, {"swift", 2048}};
    for (const NetworkModel& model : packet_models()) {
        const auto known = a_message.find(model.transport);
        if (known == a_message.end()) {
            continue;
        }
        const RunResult result =
            run_study(all_reduce_study({kRing8, "ring", 64U << 20}, model.keys()));
        std::uint64_t back = 0;
        for (const LinkRecord& link : result.links) {
            const std::uint64_t from = std::stoull(link.from);
            if (std::stoull(link.to) == (from + 7) % 8) {
                EXPECT_EQ(link.payload.count, 0U);
                EXPECT_EQ(link.busy.ps, link.bytes.count * kByte);
                back += link.bytes.count;
            } else {
                EXPECT_EQ(link.bytes.count, 14U * (8U << 20));
            }
        }
        EXPECT_EQ(back, 8 * 14 * known->second * 64) << model;
    }
}

// --- case 4 ---

struct Case04 {
    std::uint64_t ring_ps = 0;
    std::uint64_t direct_ps = 0;
};

// S/8 = 12.5 MB are 3052 packets, the last one short; W = 81,920 ps. Cut-through is the time of
// flows. A packet that is stored costs W more a step: the short one waits for the one before. Of
// seven direct messages at once the last one waits for the six others.
Case04 law_of_case04(const NetworkModel& model, bool cut_through) {
    constexpr std::uint64_t eighth = 12'500'000;
    const std::uint64_t message = message_ps(model, 2, 10'000, eighth, !cut_through);
    return {14 * message, 2 * (message + waits_ps(model, eighth))};
}

// The law written out: two steps of 8/8 and of 7/8, and none waiting.
TEST(Case04, IsDerived) {
    const auto law = [](const char* backend) {
        return law_of_case04({backends().find(backend), "", ""}, false);
    };
    EXPECT_EQ(law("congestion_aware").ring_ps, 7'000'280'000U);
    EXPECT_EQ(law("congestion_aware").direct_ps, 4'000'040'000U);
    EXPECT_EQ(law("congestion_unaware").ring_ps, 3'500'280'000U);
    EXPECT_EQ(law("congestion_unaware").direct_ps, 500'040'000U);
    EXPECT_EQ(law("flow").ring_ps, 3'500'280'000U);
    EXPECT_EQ(law("flow").direct_ps, 3'500'040'000U);
}

// On a switch acknowledgements share the links with data: 64 bytes, 1,280 ps each, at most 3052 a
// message, 14 messages one after the other on a link whether ring or direct: 54.7 us, 1.6 %. One
// that begins with the window of an empty path also waits for those that data delays.
bool answers(const NetworkModel& model) {
    return !model.transport.empty() && model.transport != "none";
}
// Transports of which less is known to be enough; what is added has the general bounds.
bool is_one_of(const NetworkModel& model, std::initializer_list<std::string_view> transports) {
    return std::find(transports.begin(), transports.end(), model.transport) != transports.end();
}
std::uint64_t acknowledgements_ps(const NetworkModel& model) {
    return answers(model) ? 14 * (model.transport == "dcqcn" ? 191 : 3'052) * 1'280 : 0;
}

std::uint64_t run_case04(const NetworkModel& model, const char* algorithm, bool cut_through) {
    return simulated_ps(
        {"{topology: switch, ranks: 8, bandwidth: 50GB/s, latency: 10ns}", algorithm, 100'000'000},
        model.keys(cut_through ? "header: 0B, switching: cut_through" : "header: 0B"));
}

TEST_P(EveryModel, Case04RingOnASwitch) {
    for (const bool cut_through : {false, true}) {
        const std::uint64_t law = law_of_case04(GetParam(), cut_through).ring_ps;
        const std::uint64_t got = run_case04(GetParam(), "ring", cut_through);
        const bool in_time = !answers(GetParam()) || is_one_of(GetParam(), {"dcqcn", "ndp"});
        const std::uint64_t window = in_time ? 0 : 4'000'000;
        EXPECT_GE(got, law);
        EXPECT_LE(got, law + acknowledgements_ps(GetParam()) + window);
    }
}

// A seventh of a rate is cut off to whole bits: a picosecond in each of two steps.
TEST_P(EveryModel, Case04DirectOnASwitch) {
    for (const bool cut_through : {false, true}) {
        const std::uint64_t law = law_of_case04(GetParam(), cut_through).direct_ps;
        const std::uint64_t got = run_case04(GetParam(), "direct", cut_through);
        EXPECT_GE(got, law);
        EXPECT_LE(got, law + acknowledgements_ps(GetParam()) + 2);
    }
}

// --- case 11 ---

// Ranks 1 to 7 each send 1 MiB to rank 0. Packets keep the receiver's link busy from the first
// packet on, W + L, so that the last comes at 2L + 7S/B + W. Under ndp the link also carries the
// headers that queues of eight packets leave: under 1 %.
TEST_P(EveryModel, Case11Incast) {
    Experiment experiment;
    experiment.dimensions = {switched(8)};
    experiment.network_only();
    experiment.network_unit = "GB";
    experiment.backend = GetParam().backend->name;
    if (!GetParam().transport.empty()) {
        experiment.settings = {"network.packet={transport: " + GetParam().transport +
                               ", header: 0B}"};
    }
    experiment.traces.resize(1);
    for (std::uint32_t rank = 1; rank < 8; ++rank) {
        experiment.traces[0].push_back(receive(rank, rank, 0, 0, kMiB));
        experiment.traces.push_back({send(1, rank, 0, 0, kMiB)});
    }
    const std::uint64_t expected =
        message_ps(GetParam(), 2, 500'000, kMiB) + waits_ps(GetParam(), kMiB);
    const std::uint64_t got = run(experiment).simulated.ps;
    EXPECT_GE(got, expected);
    const bool exact = !answers(GetParam()) || is_one_of(GetParam(), {"dcqcn", "swift"});
    EXPECT_LE(got, exact ? expected + 1 : expected / 100 * 101);
}

// --- case 46 ---

class EveryTransport : public testing::TestWithParam<NetworkModel> {};
INSTANTIATE_TEST_SUITE_P(All, EveryTransport, testing::ValuesIn(packet_models()), kModelName);

// 112 messages of 2048 packets: some 23 of them are lost, and acknowledgements with them.
TEST_P(EveryTransport, Case46ErrorsTakeLongerButEnd) {
    const Plan plan{kRing8, "ring", 64U << 20};
    const std::string keys = GetParam().keys("header: 0B, error_rate: 1e-4");
    const RunResult lossy = run_study(all_reduce_study(plan, keys));
    std::uint64_t drops = 0;
    for (const LinkRecord& link : lossy.links) {
        drops += link.drops;
    }
    EXPECT_GT(drops, 10U);
    EXPECT_GT(lossy.simulated.ps, simulated_ps(plan, GetParam().keys()));
    EXPECT_LT(lossy.simulated.ps, 10'000'000'000U);
    EXPECT_EQ(lossy.simulated.ps, simulated_ps(plan, keys));
}

// On a ring of eight without the link from 3 to 4 the message of that pair goes seven links the
// other way, which others leave free; no other changes.
TEST_P(EveryModel, Case46ALinkThatIsDownIsAvoided) {
    const std::string down =
        GetParam().keys() + ", links: [{from: 3, to: 4, down: true, both: false}]";
    const RunResult result = run_study(all_reduce_study({kRing8, "ring", 64U << 20}, down));
    EXPECT_GT(result.simulated.ps, 14 * (500'000 + (8U << 20) * kByte));
    EXPECT_LT(result.simulated.ps, 14 * 8 * (500'000 + (8U << 20) * kByte));
    for (const LinkRecord& link : result.links) {
        EXPECT_FALSE(link.from == "3" && link.to == "4");
    }
}

ProgramRun run_program_on(const std::string& study) {
    const ScratchFolder folder;
    return run_captured({"run", folder.write("study.yml", study), "--quiet"});
}

TEST_P(EveryModel, Case46ACutFabricIsRefused) {
    const std::string cut = GetParam().keys() + ", links: [{from: 5, to: switch0.0, down: true}]";
    expect_failure(run_program_on(all_reduce_study({kSwitch8, "ring", 8U << 20}, cut)),
                   2,
                   {"study.yml:3:", "no path from rank 5 to rank 0", "13 other pairs"});
}

// At 100 us rank 5 loses its only way in, when rank 4 is sending to it.
TEST_P(EveryModel, Case46ACutDuringTheRunNamesThePair) {
    if (!GetParam().backend->links_may_fail) {
        return;
    }
    const std::string cut =
        GetParam().keys() + ", failures: [{from: switch0.0, to: 5, at: 100us, both: false}]";
    const ProgramRun run = run_program_on(all_reduce_study({kSwitch8, "ring", 64U << 20}, cut));
    expect_failure(run, 3, {"no path from"});
    EXPECT_THAT(run.error, testing::ContainsRegex("no path from (rank )?4 to (rank )?5"));
}

}  // namespace
}  // namespace astra::test
