// What every transport of the packet network keeps to: all arrives, nothing early, bytes are
// conserved, losses are repaired, two runs are equal.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "tests/network/backend/packet/packet_law.h"
#include "tests/network/backend/packet/packet_network.h"

namespace astra {
namespace {

struct Case {
    std::string transport;
    std::string settings;
};

std::vector<Case> cases() {
    std::vector<Case> cases = {{"dcqcn_lossy", "transport: dcqcn, dcqcn: {pfc: false}"}};
    for (const std::string& name : packet::transports().names()) {
        cases.push_back({name, "transport: " + name});
    }
    return cases;
}

std::vector<std::string> fabrics() {
    return {one_dimension("ring", 5),
            one_dimension("switch", 6),
            "[{topology: ring, ranks: 3, bandwidth: 100GiB/s, latency: 100ns},"
            " {topology: ring, ranks: 4, bandwidth: 25GiB/s, latency: 1us}]",
            leaf_spine(3, 2, 2)};
}

std::vector<Injection> random_traffic(std::uint32_t ranks, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Injection> injections;
    for (int i = 0; i < 400; ++i) {
        const auto source = static_cast<std::uint32_t>(random() % ranks);
        const auto offset = static_cast<std::uint32_t>(1 + random() % (ranks - 1));
        const Bytes size{random() % 8 == 0 ? 0 : random() % 300'000};
        const std::uint64_t at_ps = random() % 2 == 0 ? 0 : random() % 100'000'000;
        injections.push_back(inject(source, (source + offset) % ranks, size, at_ps));
    }
    return injections;
}

class PacketTransportTest : public testing::TestWithParam<Case> {};

TEST_P(PacketTransportTest, EveryMessageArrivesAndNoneTooEarly) {
    for (const std::string& fabric : fabrics()) {
        for (const std::string routing : {"auto", "ecmp", "spray", "adaptive"}) {
            for (const std::string switching : {"store_and_forward", "cut_through"}) {
                PacketNetwork network(
                    fabric, GetParam().settings + ", switching: " + switching, routing);
                const std::vector<Injection> sent = random_traffic(network.topology().ranks(), 1);
                network.send_all(sent);
                network.run();
                // No path is shorter, wider or emptier than the best one of the fabric.
                for (std::size_t i = 0; i < sent.size(); ++i) {
                    std::vector<LinkProperties> path;
                    std::uint32_t node = index(sent[i].message.source);
                    while (node != index(sent[i].message.destination)) {
                        const std::uint32_t link = network.routing().next_links(
                            node, index(sent[i].message.destination))[0];
                        path.push_back(network.topology().link(link));
                        node = network.topology().link_ends(link).to;
                    }
                    // Several links may share a flow where it begins.
                    const std::uint64_t paths = network.routing()
                                                    .next_links(index(sent[i].message.source),
                                                                index(sent[i].message.destination))
                                                    .size();
                    const Bytes part{sent[i].message.size.count / paths};
                    ASSERT_GE(network.arrivals()[i] - sent[i].at_ps,
                              packet_law(path, part, {4096, 0, switching == "cut_through"}) *
                                  (paths > 1 ? 9 : 10) / 10)
                        << fabric << " " << routing << " " << i;
                }
            }
        }
    }
}

// Each byte of a message crosses every link of a shortest path once; only what was trimmed, dropped
// or refused and sent again comes on top.
TEST_P(PacketTransportTest, BytesAreConserved) {
    for (const std::string& fabric : fabrics()) {
        PacketNetwork network(fabric, GetParam().settings);
        const std::vector<Injection> sent = random_traffic(network.topology().ranks(), 2);
        network.send_all(sent);
        network.run();
        std::uint64_t expected = 0;
        for (const Injection& injection : sent) {
            std::uint32_t node = index(injection.message.source);
            while (node != index(injection.message.destination)) {
                const std::uint32_t link =
                    network.routing().next_links(node, index(injection.message.destination))[0];
                expected += injection.message.size.count;
                node = network.topology().link_ends(link).to;
            }
        }
        const LinkRecord sum = network.sum();
        if (sum.trims == 0 && sum.drops == 0) {
            EXPECT_EQ(sum.payload.count, expected) << fabric;
        } else {
            EXPECT_GE(sum.payload.count, expected) << fabric;
        }
        EXPECT_GE(sum.bytes.count, sum.payload.count);
    }
}

TEST_P(PacketTransportTest, TwoRunsAreEqual) {
    for (const std::string& fabric : fabrics()) {
        PacketNetwork first(fabric, GetParam().settings + ", error_rate: 0.001");
        PacketNetwork second(fabric, GetParam().settings + ", error_rate: 0.001");
        for (PacketNetwork* network : {&first, &second}) {
            network->send_all(random_traffic(network->topology().ranks(), 3));
            network->run();
        }
        EXPECT_EQ(first.arrivals(), second.arrivals());
        EXPECT_EQ(first.order(), second.order());
        EXPECT_EQ(first.queue().executed(), second.queue().executed());
    }
}

// Links are brought up to the present when they are looked at, which must not show.
TEST_P(PacketTransportTest, LookingAtLinksChangesNothing) {
    PacketNetwork unseen(leaf_spine(3, 2, 2), GetParam().settings);
    PacketNetwork seen(leaf_spine(3, 2, 2), GetParam().settings);
    const std::vector<Injection> sent = random_traffic(6, 4);
    unseen.send_all(sent);
    unseen.run();
    seen.send_all(sent);
    std::vector<LinkSample> links;
    std::uint64_t carried = 0;
    for (std::uint64_t at_ps = 0; !seen.queue().empty(); at_ps += 123'457) {
        seen.queue().run_until({at_ps});
        seen.backend().sample(links);
        std::uint64_t sum = 0;
        for (const LinkSample& link : links) {
            sum += link.carried_bytes;
        }
        ASSERT_GE(sum, carried);
        carried = sum;
    }
    EXPECT_EQ(unseen.arrivals(), seen.arrivals());
    EXPECT_EQ(unseen.order(), seen.order());
    EXPECT_EQ(carried, unseen.sum().bytes.count);
}

// One message alone on its path is not slowed down by any transport: its rate or window is that of
// an empty path. A control packet on the way back touches no link of the path there.
TEST_P(PacketTransportTest, AMessageAloneRunsAtLineRate) {
    PacketNetwork network(leaf_spine(2, 2, 2), GetParam().settings);
    network.send(0, 3, {4 << 20});
    // 1024·W + 3·W + 4·L.
    EXPECT_EQ(network.run(), 1027 * 81'920 + 4 * 500'000U);
}

TEST_P(PacketTransportTest, LossesTakeLongerButAreRepaired) {
    for (const std::string rate : {"0.0001", "0.01"}) {
        PacketNetwork whole(leaf_spine(4, 4, 4), GetParam().settings);
        PacketNetwork lossy(leaf_spine(4, 4, 4), GetParam().settings + ", error_rate: " + rate);
        const std::vector<Injection> sent = derangement(16, {4 << 20}, 5);
        whole.send_all(sent);
        lossy.send_all(sent);
        const std::uint64_t last_ps = whole.run();
        EXPECT_GT(lossy.run(), last_ps) << rate;
        EXPECT_GT(lossy.sum().drops, 0U) << rate;
    }
}

// What was on the link is lost, the rest goes round it; the link comes back later.
TEST_P(PacketTransportTest, ALinkThatFailsIsAvoided) {
    PacketNetwork network(leaf_spine(2, 4, 4), GetParam().settings, "spray");
    for (std::uint32_t source = 0; source < 4; ++source) {
        network.send(source, source + 4, {4 << 20});
    }
    network.set_link_at("leaf0", "spine1", false, 20'000'000);
    network.set_link_at("leaf0", "spine1", true, 60'000'000);
    network.run();
    EXPECT_GT(network.sum().drops, 0U);
    // Four ranks cannot send 4 MiB each over three links in less than 4/3·1024 wire times; the link
    // was missing for 40 us, a quarter of its bytes in that time at least.
    EXPECT_GT(network.queue().now().ps, 1024 * 81'920 + 10'000'000U);
}

TEST_P(PacketTransportTest, ACutIsAnErrorThatNamesThePair) {
    PacketNetwork network(one_dimension("switch", 8), GetParam().settings);
    network.send(3, 7, {16 << 20});
    network.send(1, 2, {16 << 20});
    network.set_link_at("switch0.0", "7", false, 50'000'000);
    try {
        network.queue().run();
        FAIL() << "it ran to its end";
    } catch (const SimulationError& error) {
        EXPECT_NE(std::string(error.what()).find("no path from rank 3 to rank 7"),
                  std::string::npos)
            << error.what();
    }
}

// On a line every rank has one or two links; behind the cut there is only the way back.
TEST_P(PacketTransportTest, ADeadEndIsACut) {
    PacketNetwork network(one_dimension("line", 4), GetParam().settings);
    network.send(0, 3, {4 << 20});
    network.set_link_at("1", "2", false, 30'000'000);
    EXPECT_THROW(network.queue().run(), SimulationError);
}

INSTANTIATE_TEST_SUITE_P(All,
                         PacketTransportTest,
                         testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& tested) {
                             return tested.param.transport;
                         });

}  // namespace
}  // namespace astra
