// What congestion control makes of the same traffic. W = 81,920 ps, L = 500,000 ps.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network/backend/packet/packet_network.h"

namespace astra {
namespace {

constexpr std::uint64_t kWire = 81'920;
constexpr std::uint64_t kLatency = 500'000;

// --- ndp ---

// Bound 41.94 us and the path; the range is what published simulators make of it.
TEST(NdpTest, PermutationOf128) {
    PacketNetwork network(leaf_spine(16, 8, 8), "transport: ndp");
    network.send_all(derangement(128, {2 << 20}, 1));
    const std::uint64_t last_ps = network.run();
    EXPECT_GE(last_ps, 515 * kWire + 4 * kLatency);
    EXPECT_LE(last_ps, 56'000'000U);
}

TEST(NdpTest, AllToAllIsNearTheWireBound) {
    PacketNetwork network(leaf_spine(8, 8, 8), "transport: ndp");
    network.send_all(all_to_all(64, {256 << 10}));
    const std::uint64_t last_ps = network.run();
    const std::uint64_t bound_ps = 63 * 64 * kWire;
    EXPECT_GE(last_ps, bound_ps + 2 * kLatency);
    EXPECT_LE(last_ps, bound_ps / 100 * 106);
}

// The receiver's link never runs empty: trimmed packets are asked for again while others come. It
// carries 32·256 packets and the headers of those that were trimmed at it.
TEST(NdpTest, AnIncastKeepsTheReceiverBusy) {
    PacketNetwork network(leaf_spine(8, 8, 8), "transport: ndp");
    for (std::uint32_t source = 8; source < 40; ++source) {
        network.send(source, 0, kMiB);
    }
    const std::uint64_t last_ps = network.run();
    EXPECT_GE(last_ps, 673'334'400U);
    EXPECT_LE(last_ps, 673'334'400U / 100 * 103);
    const LinkRecord sum = network.sum();
    EXPECT_GT(sum.trims, 0U);
    EXPECT_LE(sum.peak_queue.count, 8U * 4096);
}

// A window of one packet: one packet a round trip, which is W + 64 bytes (1,280 ps) on each of four
// links and 8·L. 16 packets: 15 round trips and the last one's way.
TEST(NdpTest, AWindowOfOneWaitsForEachPull) {
    PacketNetwork network(leaf_spine(2, 2, 2), "transport: ndp, ndp: {initial_window: 1}");
    network.send(0, 3, {16 * 4096});
    const std::uint64_t one_way_ps = 4 * kWire + 4 * kLatency;
    EXPECT_EQ(network.run(), 15 * (one_way_ps + 4 * 1'280 + 4 * kLatency) + one_way_ps);
}

// Receivers share their link fairly whatever the number of packets on the way.
TEST(NdpTest, PullsAreSharedFairly) {
    PacketNetwork network(one_dimension("switch", 5), "transport: ndp");
    for (std::uint32_t source = 1; source < 5; ++source) {
        network.send(source, 0, {2 << 20});
    }
    const std::uint64_t last_ps = network.run();
    for (const std::uint64_t arrival : network.arrivals()) {
        EXPECT_GE(arrival, last_ps / 100 * 95);
    }
}

// --- dcqcn ---

// With one path a flow, some links carry several flows of a permutation.
TEST(DcqcnTest, EcmpShowsATail) {
    PacketNetwork network(leaf_spine(16, 8, 8), "transport: dcqcn");
    network.send_all(derangement(128, {2 << 20}, 1));
    EXPECT_GT(network.run(), 120'000'000U);
    EXPECT_EQ(network.sum().drops, 0U);
}

// 64 senders at line rate into one link, 64 MiB in all, far more than the switch holds.
TEST(DcqcnTest, FlowControlLosesNothing) {
    const auto incast = [](const std::string& dcqcn) {
        PacketNetwork network(one_dimension("switch", 65),
                              "transport: dcqcn, dcqcn: {" + dcqcn + "}");
        for (std::uint32_t source = 1; source <= 64; ++source) {
            network.send(source, 0, kMiB);
        }
        network.run();
        return network.sum();
    };
    const LinkRecord small = incast("shared_buffer: 16KiB");
    EXPECT_EQ(small.drops, 0U);
    EXPECT_GE(small.pauses, 64U);
    EXPECT_EQ(incast("shared_buffer: 200KiB").drops, 0U);
    // The headroom is what makes it so, and packets that are lost are sent again.
    EXPECT_GT(incast("shared_buffer: 16KiB, headroom: 8KiB").drops, 0U);
}

// Pauses that go back through a fabric lose nothing either, whatever the switching.
TEST(DcqcnTest, FlowControlLosesNothingAcrossAFabric) {
    for (const std::string switching : {"store_and_forward", "cut_through"}) {
        PacketNetwork network(
            leaf_spine(8, 8, 2),
            "transport: dcqcn, dcqcn: {shared_buffer: 32KiB}, switching: " + switching);
        network.send_all(all_to_all(64, {64 << 10}));
        network.run();
        EXPECT_EQ(network.sum().drops, 0U) << switching;
        EXPECT_GT(network.sum().pauses, 0U) << switching;
    }
}

// Without flow control packets are dropped, and the receiver has the sender go back.
TEST(DcqcnTest, GoesBackWithoutFlowControl) {
    PacketNetwork network(one_dimension("switch", 17),
                          "transport: dcqcn, dcqcn: {pfc: false}, buffer: 64KiB");
    for (std::uint32_t source = 1; source <= 16; ++source) {
        network.send(source, 0, kMiB);
    }
    network.run();
    EXPECT_GT(network.sum().drops, 0U);
    EXPECT_GT(network.sum().payload.count, 2U * 16 * kMiB.count);
    EXPECT_LE(network.sum().peak_queue.count, 64U << 10);
}

// --- swift ---

// Round trips stay near the target: 25 us, 2 links of 1 us, and at most 100 us for small windows.
// What waits is at most the target at line rate and the windows with which 8 senders begin.
TEST(SwiftTest, TheQueueStaysNearTheTarget) {
    PacketNetwork network(one_dimension("switch", 9), "transport: swift");
    for (std::uint32_t source = 1; source <= 8; ++source) {
        network.send(source, 0, {16 << 20});
    }
    const std::uint32_t down = network.link("switch0.0", "0");
    std::uint64_t most = 0;
    for (std::uint64_t at_ps = 1'000'000'000; at_ps < 2'000'000'000; at_ps += 1'000'000) {
        network.queue().run_until({at_ps});
        most = std::max(most, network.backend().waiting_bytes(down));
    }
    // 50 kB a microsecond.
    EXPECT_LT(most, 127U * 50'000);
    EXPECT_GT(most, 5U * 50'000);
    const std::uint64_t last_ps = network.run();
    // 8·4096 packets keep the link busy but for a tenth.
    EXPECT_LT(last_ps, 8 * 4096 * kWire / 10 * 11);
}

// Far more senders than packets fit into the target: windows fall below one packet, and still the
// link is busy and nearly all goes through at once.
TEST(SwiftTest, WindowsBelowOnePacket) {
    PacketNetwork network(
        one_dimension("switch", 257),
        "transport: swift, swift: {base_target: 5us, fs_range: 5us}, buffer: 256KiB");
    for (std::uint32_t source = 1; source <= 256; ++source) {
        network.send(source, 0, {256 << 10});
    }
    const std::uint64_t last_ps = network.run();
    EXPECT_LT(last_ps, 256 * 64 * kWire * 2);
    EXPECT_LE(network.sum().peak_queue.count, 256U << 10);
}

// All ranks send to rank 0, 1, 2, … at once, in this order: in step they would hit one receiver
// after the other, all together. The wire time of a rank's messages, (n - 1) · bytes / rate, and
// that of the empty path, at most 1.3 times.
TEST(NdpTest, AnAllToAllInNaturalOrderIsNearTheWire) {
    constexpr std::uint64_t bytes = 64 << 10;
    for (const std::uint32_t ranks : {8U, 16U, 32U, 64U}) {
        const std::uint32_t hosts = ranks < 32 ? ranks / 4 : 8;
        for (const std::string& dimensions : {one_dimension("switch", ranks),
                                              leaf_spine(ranks / hosts, hosts, hosts),
                                              leaf_spine(ranks / hosts, hosts, 2 * hosts)}) {
            for (const std::uint64_t seed : {1U, 2U, 3U}) {
                PacketNetwork network(dimensions, "transport: ndp", "auto", seed);
                for (std::uint32_t source = 0; source < ranks; ++source) {
                    for (std::uint32_t destination = 0; destination < ranks; ++destination) {
                        if (destination != source) {
                            network.send(source, destination, {bytes});
                        }
                    }
                }
                const std::uint64_t wire = (ranks - 1) * bytes * 20 + 2'300'000;
                EXPECT_LE(network.run(), wire / 10 * 13) << dimensions << seed;
            }
        }
    }
}

}  // namespace
}  // namespace astra
