// DCQCN over links that lose packets, and over links of different rates.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "tests/network/backend/packet/packet_network.h"

namespace astra {
namespace {

std::string packets(const std::string& pfc, std::uint32_t mtu_bytes) {
    return "transport: dcqcn, mtu: " + std::to_string(mtu_bytes) + "B, dcqcn: {pfc: " + pfc + "}";
}

// Time of a number of bytes on a wire.
std::uint64_t wire_ps(std::uint64_t bytes, std::uint64_t gbps) {
    return bytes * 8'000 / gbps;
}

// A message of a connection may be missing packets when the next one is on its way already: its
// sender goes back for it all the same, and nothing stands still.
TEST(LossyDcqcnTest, GoesBackForAMessageBeforeTheOneThatIsSent) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        PacketNetwork network(one_dimension("switch", 5),
                              packets("false", 1024) + ", buffer: 8KiB, error_rate: 0.01",
                              "auto",
                              seed);
        for (std::uint32_t source = 1; source < 5; ++source) {
            for (std::uint32_t i = 0; i < 8; ++i) {
                network.send(source, 0, {(i % 3) * 90'000}, 0, kPointToPoint);
            }
        }
        network.run();
    }
}

// A connection is not faster than the narrowest link of its path, so that one that is alone fills
// no queue there: bytes / rate, a packet's time on the other links and the latencies.
TEST(LossyDcqcnTest, AFlowAloneRunsAtTheRateOfItsNarrowestLink) {
    constexpr std::uint64_t bytes = 8 << 20;
    for (const std::string pfc : {"true", "false"}) {
        for (const std::uint32_t mtu : {256U, 4096U}) {
            for (const auto& [fast, slow] : std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                     {400, 1}, {400, 25}, {400, 100}, {800, 100}, {800, 400}, {100, 800}}) {
                const std::string dimensions =
                    "[{topology: switch, ranks: 4, bandwidth: " + std::to_string(fast) +
                    "Gbps, latency: 500ns}, {topology: switch, ranks: 2, bandwidth: " +
                    std::to_string(slow) + "Gbps, latency: 2us}]";
                PacketNetwork network(dimensions, packets(pfc, mtu));
                network.send(3, 4, {bytes});
                const std::uint64_t narrow = std::min(fast, slow);
                const std::uint64_t ideal_ps = wire_ps(bytes, narrow) + 5'000'000 +
                                               2 * wire_ps(mtu, fast) + 2 * wire_ps(mtu, slow);
                EXPECT_LE(network.run(), ideal_ps + ideal_ps / 100)
                    << pfc << " " << mtu << " " << fast << " " << slow;
                EXPECT_EQ(network.sum().drops, 0U);
            }
        }
    }
}

// Ports hold more than it takes to mark every packet, at every rate and whatever is given of
// thresholds: senders are told before packets are dropped. With the incast over links that lose
// nothing at 1.5 times the wire, going back costs little; on the slowest links, where each sends a
// few packets, all at once, or with thresholds of a packet or two, it is as much again.
TEST(LossyDcqcnTest, AnIncastIsToldBeforeItIsDropped) {
    for (const std::uint64_t gbps : {1U, 10U, 25U, 40U, 100U, 200U, 400U, 800U}) {
        for (const std::uint32_t mtu : {256U, 1024U, 4096U, 9000U}) {
            for (const std::string given :
                 {"", ", kmin: 5KB, kmax: 50KB", ", kmin: 5KB, kmax: 1MB"}) {
                if ((mtu == 256 && gbps > 40) || (!given.empty() && gbps != 40)) {
                    continue;
                }
                const std::uint64_t bytes = 40'000 * gbps;
                PacketNetwork network(
                    one_dimension("switch", 16, std::to_string(gbps) + "Gbps", "1us"),
                    packets("false" + given, mtu));
                for (std::uint32_t source = 1; source < 16; ++source) {
                    network.send(source, 0, {bytes});
                }
                const std::uint64_t wire = 15 * wire_ps(bytes, gbps);
                EXPECT_LE(network.run(), gbps < 10 || !given.empty() ? 2 * wire : wire / 100 * 165)
                    << gbps << " " << mtu << given;
            }
        }
    }
}

TEST(LossyDcqcnTest, ASmallBufferMarksBelowItsEnd) {
    for (const std::string buffer : {"20KiB", "100KiB", "195KB"}) {
        PacketNetwork network(one_dimension("switch", 16, "40Gbps", "1us"),
                              packets("false", 1024) + ", buffer: " + buffer);
        for (std::uint32_t source = 1; source < 16; ++source) {
            network.send(source, 0, {1'600'000});
        }
        EXPECT_LE(network.run(), 15 * wire_ps(1'600'000, 40) * 2) << buffer;
    }
}

// What ranks put on their links beyond the messages is what they send again, whoever repairs it and
// whatever makes it necessary: packets are full, so that each is an mtu.
TEST(RepeatsTest, AreWhatLeavesRanksBeyondTheMessages) {
    const std::vector<std::string> causes = {", error_rate: 0.01", ", buffer: 8KiB", ""};
    for (const std::string transport : {"none", "dcqcn", "ndp", "swift"}) {
        for (const std::string& cause : causes) {
            for (const std::string routing : {"ecmp", "spray"}) {
                PacketNetwork network(leaf_spine(4, 4, 4),
                                      "transport: " + transport + ", dcqcn: {pfc: " +
                                          (cause == causes[1] ? "false" : "true") + "}" + cause,
                                      routing);
                constexpr std::uint64_t bytes = 512 * 4096;
                for (std::uint32_t rank = 0; rank < 16; ++rank) {
                    network.send(rank, (rank * 5 + 3) % 16, {bytes});
                    network.send(rank, (rank + 4 - rank % 2) % 16, {bytes});
                }
                network.run();
                std::uint64_t payload = 0;
                for (const LinkRecord& link : network.backend().link_records()) {
                    payload += link.from.find_first_not_of("0123456789") == std::string::npos
                                   ? link.payload.count
                                   : 0;
                }
                EXPECT_EQ(payload, 32 * bytes + std::uint64_t{network.sum().repeats} * 4096)
                    << transport << cause << routing;
                const bool goes_back = transport == "dcqcn" && routing == "spray";
                if (cause == causes[0] || goes_back) {
                    EXPECT_GT(network.sum().repeats, 0U) << transport << cause << routing;
                }
            }
        }
    }
}

// 64 links that each lose half of what they carry let nothing through.
TEST(PacketProgressTest, ARunThatOnlyRepeatsItselfSaysSo) {
    for (const std::string transport : {"none", "dcqcn"}) {
        PacketNetwork network(one_dimension("line", 65),
                              "transport: " + transport + ", error_rate: 0.5, timeout: 1us");
        network.send(0, 64, {4096});
        EXPECT_THROW(network.run(), SimulationError) << transport;
    }
}

}  // namespace
}  // namespace astra
