// What protocols and in-switch reduction cost in a run, by closed forms. 100 GB/s are 10 ps a byte,
// 500 ns a link, endpoint delay 10 ns, local memory 1 ps a byte and access.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "tests/system/tuning/tuning_runs.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kMiB = 1U << 20U;

TunedNetwork switch8(const std::string& backend) {
    return {"switch8", backend, "{topology: switch, ranks: 8, bandwidth: 100GB/s, latency: 500ns}"};
}

// Each of 14 steps: latency 2 us, m/copying = 131072 B at 4 x 50 GB/s (5 ps a byte), two links,
// 2m at 100 GB/s (efficiency 0.5), endpoint delay; seven of them reduce m. Before it the startup.
TEST(Protocols, RingOnEveryBackend) {
    const std::uint64_t m = kMiB / 8;
    for (const std::string backend : {"congestion_unaware", "congestion_aware", "flow"}) {
        const std::uint64_t wire = 2 * m * 10 * (backend == "congestion_aware" ? 2 : 1);
        const std::uint64_t step = 2'000'000 + 5 * m + 1'000'000 + wire + 10'000;
        const RunResult result = run_tuned(
            switch8(backend),
            "ring",
            CollectiveKind::AllReduce,
            kMiB,
            ", protocols: {LL: {startup: 7us, latency: 2us, efficiency: 0.5, channels: 4, "
            "channel_bandwidth: 50GB/s}}");
        // Fair flows are rounded to the picosecond link by link.
        const std::uint64_t expected = 10'000 + 7'000'000 + 14 * step + 7 * 3 * m;
        EXPECT_NEAR(static_cast<double>(result.simulated.ps), static_cast<double>(expected), 100)
            << backend;
        EXPECT_EQ(result.collectives.front().algorithm, "ring/LL");
    }
}

// Packets have headers and queues: within 5 % of the closed form of fair flows.
TEST(Protocols, PacketsPayThemToo) {
    const std::uint64_t m = kMiB / 8;
    const std::uint64_t step = 2'000'000 + 1'000'000 + 2 * m * 10 + 10'000;
    const RunResult result = run_tuned(switch8("packet"),
                                       "ring",
                                       CollectiveKind::AllReduce,
                                       kMiB,
                                       ", protocols: {LL: {latency: 2us, efficiency: 0.5}}");
    const double expected = static_cast<double>(10'000 + 14 * step + 7 * 3 * m);
    EXPECT_NEAR(static_cast<double>(result.simulated.ps), expected, 0.05 * expected);
}

// A member of `direct` hands over its seven messages of m one after the other: the last leaves
// after 7m/copying, and crosses alone where copying is the slower one.
TEST(Protocols, MessagesOfAMemberAreCopiedInTurn) {
    const std::uint64_t m = kMiB / 8;
    const RunResult result = run_tuned(switch8("congestion_aware"),
                                       "direct",
                                       CollectiveKind::AllGather,
                                       kMiB,
                                       ", protocols: {Slow: {channel_bandwidth: 50GB/s}}");
    EXPECT_EQ(result.simulated.ps, 10'000 + 7 * 20 * m + 2 * 10 * m + 1'000'000 + 10'000);
}

// S(1+1/n) a link, in halves of 7 messages, and no reduction at the ranks. Flows that share a link
// come together.
TEST(Nvls, CarriesTheBytesOfTheSwitch) {
    const TunedNetwork network = switch8("flow");
    const std::string flag = ", in_switch_reduction: true";
    const RunResult all_reduce =
        run_tuned(network, "nvls", CollectiveKind::AllReduce, 7 * kMiB, flag);
    EXPECT_NEAR(
        static_cast<double>(all_reduce.simulated.ps),
        static_cast<double>(10'000 + 2 * (1'000'000 + 10'000) + 10 * (7 * kMiB + 7 * kMiB / 8)),
        100);
    EXPECT_EQ(all_reduce.links.front().bytes.count, 7 * kMiB + 7 * kMiB / 8);
    const RunResult all_gather =
        run_tuned(network, "nvls", CollectiveKind::AllGather, 7 * kMiB, flag);
    EXPECT_NEAR(static_cast<double>(all_gather.simulated.ps),
                static_cast<double>(10'000 + 1'000'000 + 10'000 + 10 * 7 * kMiB),
                100);
}

void expect_refused(const TunedNetwork& network,
                    const std::string& algorithm,
                    const std::string& system,
                    const std::string& part) {
    try {
        run_tuned(network, algorithm, CollectiveKind::AllReduce, kMiB, system);
        ADD_FAILURE() << "not refused: " << algorithm << system;
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr(part));
    }
}

TEST(Nvls, NeedsASwitchThatReduces) {
    expect_refused(switch8("flow"), "nvls", "", "needs system.in_switch_reduction");
    const TunedNetwork ring = {
        "ring8", "flow", "{topology: ring, ranks: 8, bandwidth: 100GB/s, latency: 500ns}"};
    expect_refused(ring, "nvls", ", in_switch_reduction: true", "do not hang on one switch");
}

TEST(Protocols, BadOnesAreRefused) {
    const TunedNetwork network = switch8("flow");
    const auto refused = [&](const std::string& protocols, const std::string& part) {
        expect_refused(network, "ring", ", protocols: " + protocols, part);
    };
    refused("{LL: {efficiency: 1.1}}", "system.protocols.LL.efficiency: expected the share");
    refused("{LL: {efficiency: 0}}", "at most 1");
    refused("{LL: {efficency: 0.5}}", "did you mean 'efficiency'");
    refused("{LL: {channels: 2}}", "channels need channel_bandwidth");
    refused("{LL: {channel_bandwidth: 0}}", "bandwidth above 0");
    refused("{LL: {algorithms: [rung]}}", "did you mean 'ring'");
    refused("{LL: {algorithms: [ring]}}", "one has to serve all others");
    refused("{'a b': {}}", "letters, digits");
    refused("{}", "expected 1 to 32 protocols");
}

}  // namespace
}  // namespace astra::test
