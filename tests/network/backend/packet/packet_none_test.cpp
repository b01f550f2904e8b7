// The packet network without congestion control: every number can be written down.
//
// W = 4096 bytes at 400 Gb/s = 81,920 ps, L = 500,000 ps a link.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network/backend/packet/packet_law.h"
#include "tests/network/backend/packet/packet_network.h"

namespace astra {
namespace {

constexpr std::uint64_t kWire = 81'920;
constexpr std::uint64_t kLatency = 500'000;

std::vector<LinkProperties> path_of(PacketNetwork& network,
                                    std::uint32_t source,
                                    std::uint32_t destination) {
    std::vector<LinkProperties> path;
    std::uint32_t node = source;
    while (node != destination) {
        const std::uint32_t link = network.routing().next_links(node, destination)[0];
        path.push_back(network.topology().link(link));
        node = network.topology().link_ends(link).to;
    }
    return path;
}

TEST(PacketNoneTest, AnEmptyPathGivesTheLaw) {
    const std::vector<std::string> fabrics = {
        one_dimension("ring", 5, "333.333333337Gbps", "17ps"),
        one_dimension("switch", 4),
        "[{topology: ring, ranks: 4, bandwidth: 100GiB/s, latency: 100ns},"
        " {topology: switch, ranks: 3, bandwidth: 25GiB/s, latency: 1us}]",
        "[{topology: switch, ranks: 3, bandwidth: 10Gbps, latency: 0ns},"
        " {topology: ring, ranks: 4, bandwidth: 77.777777777Gbps, latency: 1ps}]",
        leaf_spine(2, 2, 2)};
    for (const std::string& fabric : fabrics) {
        for (const bool cut_through : {false, true}) {
            for (const std::uint64_t header : {0U, 64U}) {
                PacketNetwork network(
                    fabric,
                    "mtu: 1000B, header: " + std::to_string(header) +
                        "B, switching: " + (cut_through ? "cut_through" : "store_and_forward"),
                    fabric == leaf_spine(2, 2, 2) ? "ecmp" : "auto");
                const PacketSizes sizes{1'000, header, cut_through};
                for (std::uint32_t source = 0; source < network.topology().ranks(); ++source) {
                    for (std::uint32_t to = 0; to < network.topology().ranks(); ++to) {
                        if (source == to) {
                            continue;
                        }
                        for (const std::uint64_t size : {0U, 1U, 1'000U, 1'001U, 123'456U}) {
                            const std::uint64_t now_ps = network.queue().now().ps;
                            const std::size_t id = network.send(source, to, {size}, now_ps);
                            network.queue().run();
                            ASSERT_EQ(network.arrivals()[id] - now_ps,
                                      packet_law(path_of(network, source, to), {size}, sizes))
                                << fabric << " " << source << " to " << to << ": " << size;
                        }
                    }
                }
            }
        }
    }
}

// n packets over four equal links: n·W on the first, W on each of the others and 4·L; with
// cut-through the others cost nothing. 1 MiB is 256 packets.
TEST(PacketNoneTest, CutThroughSavesAWireTimeASwitch) {
    PacketNetwork whole(leaf_spine(2, 2, 2), "transport: none");
    whole.send(0, 3, kMiB);
    EXPECT_EQ(whole.run(), 256 * kWire + 3 * kWire + 4 * kLatency);
    PacketNetwork cut(leaf_spine(2, 2, 2), "switching: cut_through");
    cut.send(0, 3, kMiB);
    EXPECT_EQ(cut.run(), 256 * kWire + 4 * kLatency);
}

// A header goes with every packet: 256 · (4096 + 64) bytes. The record tells them apart.
TEST(PacketNoneTest, HeadersAreOnTheWire) {
    PacketNetwork network(one_dimension("ring", 4), "header: 64B");
    network.send(0, 1, kMiB);
    EXPECT_EQ(network.run(), 256 * 4160 * 20 + kLatency);
    const std::vector<LinkRecord> records = network.backend().link_records();
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].bytes.count, 256U * 4160);
    EXPECT_EQ(records[0].payload, kMiB);
    EXPECT_EQ(records[0].busy.ps, 256U * 4160 * 20);
}

// An empty message is a header; without headers it takes the latency, but waits its turn.
TEST(PacketNoneTest, AMessageWithoutBytes) {
    PacketNetwork network(one_dimension("ring", 4), "transport: none");
    network.send(0, 2, {0});
    EXPECT_EQ(network.run(), 2 * kLatency);
    EXPECT_TRUE(network.backend().link_records().empty());
    PacketNetwork with_header(one_dimension("ring", 4), "header: 64B");
    with_header.send(0, 2, {0});
    EXPECT_EQ(with_header.run(), 2 * (kLatency + 64 * 20));
}

// The receiver's link carries 32·256 packets without a gap; the first of them comes to it after
// three wire times and all links: 32·256·W + 3·W + 4·L = 673,334,400 ps.
TEST(PacketNoneTest, IncastOf32) {
    PacketNetwork network(leaf_spine(8, 8, 8), "transport: none");
    for (std::uint32_t source = 8; source < 40; ++source) {
        network.send(source, 0, kMiB);
    }
    EXPECT_EQ(network.run(), 673'334'400U);
    EXPECT_EQ(network.sum().drops, 0U);
}

// Each rank sends and receives 63 · 64 packets: no better than 63·64·W = 330.30 us.
TEST(PacketNoneTest, AllToAllIsNearTheWireBound) {
    PacketNetwork network(leaf_spine(8, 8, 8), "transport: none");
    network.send_all(all_to_all(64, {256 << 10}));
    const std::uint64_t bound_ps = 63 * 64 * kWire;
    const std::uint64_t last_ps = network.run();
    EXPECT_GE(last_ps, bound_ps + 2 * kLatency);
    EXPECT_LE(last_ps, bound_ps / 100 * 106);
}

// 2 MiB are 512·W = 41.94 us, and three more wire times and four links for whoever crosses a spine.
TEST(PacketNoneTest, PermutationIsNearTheWireBound) {
    for (const std::string routing : {"spray", "adaptive"}) {
        PacketNetwork network(leaf_spine(16, 8, 8), "transport: none", routing);
        network.send_all(derangement(128, {2 << 20}, 1));
        const std::uint64_t last_ps = network.run();
        EXPECT_GE(last_ps, 512 * kWire + 3 * kWire + 4 * kLatency) << routing;
        EXPECT_LE(last_ps, 52'000'000U) << routing;
    }
}

// Two flows from different ranks that the hash puts on one spine link: both are there only when
// that link has carried 2·256 packets: (2·256 + 3)·W + 4·L. On different spines (256 + 3)·W + 4·L.
TEST(PacketNoneTest, AnEcmpCollisionHalvesTheRate) {
    std::uint32_t collisions = 0;
    constexpr std::uint32_t tries = 40;
    for (std::uint64_t seed = 0; seed < tries; ++seed) {
        PacketNetwork network(leaf_spine(2, 2, 2), "transport: none", "ecmp", seed);
        const std::uint32_t leaf = 4;  // the first node behind the ranks
        const auto spine_of = [&](std::uint32_t from, std::uint32_t to) {
            return Routing::hashed_choice(network.routing().pair_hash(from, to), leaf, 2);
        };
        const bool collide = spine_of(0, 2) == spine_of(1, 3);
        collisions += collide ? 1 : 0;
        network.send(0, 2, kMiB);
        network.send(1, 3, kMiB);
        EXPECT_EQ(network.run(), (collide ? 515 : 259) * kWire + 4 * kLatency) << seed;
    }
    // Half of them, within three standard deviations: 20 ± 3·sqrt(40)/2.
    EXPECT_GE(collisions, 10U);
    EXPECT_LE(collisions, 30U);
}

// Flows of one rank take turns packet by packet: A with 4 packets, B with 2. A's first leaves at
// once and A queues again before B comes: A A B A B A.
TEST(PacketNoneTest, FlowsOfARankTakeTurns) {
    PacketNetwork network(one_dimension("switch", 3), "transport: none");
    network.send(0, 1, {4 * 4096});
    network.send(0, 2, {2 * 4096});
    network.run();
    EXPECT_EQ(network.arrivals()[1], 5 * kWire + kWire + 2 * kLatency);
    EXPECT_EQ(network.arrivals()[0], 6 * kWire + kWire + 2 * kLatency);
}

// On a ring of three ranks 0 -> 1 -> 2 without a way back, rank 1 forwards rank 0's packets in turn
// with its own. Those come at L + W, L + 2·W, …; until then its own are alone on the link.
TEST(PacketNoneTest, ForwardedPacketsTakeTurnsWithTheRanksOwn) {
    PacketNetwork network(
        "[{topology: ring, ranks: 3, direction: clockwise, bandwidth: 400Gbps, latency: 500ns}]",
        "transport: none");
    const std::size_t forwarded = network.send(0, 2, {64 * 4096});
    const std::size_t own = network.send(1, 2, {64 * 4096});
    network.run();
    // 7 of its own start before L + W = 581,920 ps = 7.1·W, the eighth waits for its turn behind
    // the first forwarded one; of the 57 that are left each has one forwarded before it. So the
    // last of its own is packet 7 + 2·57 on the link, the last forwarded one packet 128.
    EXPECT_NEAR(static_cast<double>(network.arrivals()[own]),
                static_cast<double>((7 + 2 * 57) * kWire + kLatency),
                static_cast<double>(2 * kWire));
    EXPECT_EQ(network.arrivals()[forwarded], 128 * kWire + kLatency);
}

// A rank with two links to the same switch uses both: half the wire time. (n/2 + 1)·W + 2·L.
TEST(PacketNoneTest, SeveralNicsShareAFlow) {
    PacketNetwork network(
        "[{topology: leaf_spine, ranks: 4, hosts_per_leaf: 4, spines: 1, nics: 2,"
        " bandwidth: 400Gbps, latency: 500ns}]",
        "transport: none",
        "spray");
    network.send(0, 1, {8 * 4096});
    EXPECT_EQ(network.run(), 5 * kWire + 2 * kLatency);
}

// What waits and what has left, while it runs. Two senders at once: at L + 10.5·W the switch has
// 2·9 packets (one more is complete at L + 10·W: 2·10), of which it has sent 9.5.
TEST(PacketNoneTest, LinksCanBeSampled) {
    PacketNetwork network(one_dimension("switch", 3), "transport: none");
    network.send(1, 0, kMiB);
    network.send(2, 0, kMiB);
    const std::uint32_t down = network.link("switch0.0", "0");
    // An event of no consequence, so that it is that time.
    const std::uint64_t at_ps = kLatency + 10 * kWire + kWire / 2;
    network.set_link_at("1", "switch0.0", true, at_ps);
    network.queue().run_until({at_ps});
    EXPECT_EQ(network.backend().wire_bytes(down), 9 * 4096U + 2048);
    EXPECT_EQ(network.backend().waiting_bytes(down), (20 - 10) * 4096U);
}

TEST(PacketNoneTest, TheTransportsAreFoundByName) {
    for (const packet::TransportInfo* transport : packet::transports()) {
        EXPECT_EQ(packet::transports().find(transport->name), transport);
        EXPECT_FALSE(transport->summary.empty());
    }
    EXPECT_NE(packet::transports().find("none"), nullptr);
    EXPECT_EQ(packet::transports().find("non"), nullptr);
}

}  // namespace
}  // namespace astra
