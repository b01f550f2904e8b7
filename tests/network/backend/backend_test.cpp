// Conformance: what every network backend keeps to.
#include "network/backend/backend.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "tests/network/test_network.h"

namespace astra {
namespace {

// Fabrics with odd numbers, so that no product is accidentally right.
std::vector<std::vector<Shape>> fabrics() {
    const Bandwidth odd{333'333'333'337};
    return {
        {{"ring", 2, odd, 17}},
        {{"ring", 8, gib_a_second(50), 500'000}},
        {{"ring", 5, odd, 0}},
        {{"switch", 8, gib_a_second(50), 500'000}},
        {{"fully_connected", 4, odd, 12'345}},
        {{"ring", 4, gib_a_second(100), 100'000}, {"switch", 4, gib_a_second(25), 1'000'000}},
        {{"switch", 3, odd, 999}, {"ring", 5, {77'777'777'777}, 1}},
        {{"ring", 3, odd, 7}, {"fully_connected", 3, {1'000'000'007}, 11}, {"ring", 6, odd, 13}}};
}

std::vector<std::uint32_t> route(Routing& routing, const Message& message) {
    return path_links(routing, message.source, message.destination);
}

std::uint64_t latency_of(Routing& routing, const Message& message) {
    std::uint64_t sum = 0;
    for (const std::uint32_t link : route(routing, message)) {
        sum += routing.topology().link(link).latency.ps;
    }
    return sum;
}

// What a link carried of messages.
Bytes payload_of(const BackendInfo& backend, const LinkRecord& record) {
    return backend.has_packets() ? record.payload : record.bytes;
}

std::vector<Injection> random_traffic(std::uint32_t ranks, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Injection> injections;
    for (int i = 0; i < 2'000; ++i) {
        const auto source = static_cast<std::uint32_t>(random() % ranks);
        const auto offset = static_cast<std::uint32_t>(1 + random() % (ranks - 1));
        const Bytes size{random() % 8 == 0 ? 0 : random() % 1'000'000};
        const std::uint64_t at_ps = random() % 2 == 0 ? 0 : random() % 1'000'000'000;
        injections.push_back(inject(source, (source + offset) % ranks, size, at_ps));
    }
    return injections;
}

// The backends with the defaults of their keys.
class BackendTest : public testing::TestWithParam<const BackendInfo*> {
  protected:
    TestNetwork network_of(const std::vector<Shape>& shapes) const {
        return TestNetwork(*GetParam(), build(shapes), "{}");
    }
    std::uint64_t alone(TestNetwork& network, const Message& message) const {
        return alone_ps(*GetParam(), network.routing(), message);
    }
};

TEST_P(BackendTest, AMessageTakesAloneWhatTheBackendSays) {
    // A message of 4 GiB would be a million packets.
    const std::uint64_t largest = std::uint64_t{1} << (GetParam()->has_packets() ? 20 : 32);
    for (const std::vector<Shape>& shapes : fabrics()) {
        TestNetwork network = network_of(shapes);
        const std::uint32_t ranks = network.topology().ranks();
        for (std::uint32_t source = 0; source < ranks; ++source) {
            for (std::uint32_t destination = 0; destination < ranks; ++destination) {
                for (const std::uint64_t size :
                     {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1'000'003}, largest}) {
                    if (source == destination) {
                        continue;
                    }
                    // The one before has arrived.
                    const std::uint64_t now_ps = network.queue().now().ps;
                    const Injection injection = inject(source, destination, {size}, now_ps);
                    const std::size_t id = network.send(injection);
                    network.queue().run();
                    ASSERT_EQ(network.arrivals()[id] - now_ps, alone(network, injection.message))
                        << network.topology().describe() << ": " << size << " bytes from " << source
                        << " to " << destination;
                }
            }
        }
    }
}

TEST_P(BackendTest, AMessageWithoutBytesCarriesNone) {
    for (const std::vector<Shape>& shapes : fabrics()) {
        TestNetwork network = network_of(shapes);
        const Injection injection = inject(0, network.topology().ranks() - 1, {0});
        const std::uint64_t arrival = network.run({injection})[0];
        EXPECT_EQ(arrival, alone(network, injection.message));
        EXPECT_GE(arrival, latency_of(network.routing(), injection.message));
        for (const LinkRecord& record : network.backend().link_records()) {
            EXPECT_EQ(payload_of(*GetParam(), record).count, 0U);
        }
    }
}

TEST_P(BackendTest, EveryMessageArrivesAndNoneTooEarly) {
    for (const std::vector<Shape>& shapes : fabrics()) {
        TestNetwork network = network_of(shapes);
        const std::vector<Injection> injections = random_traffic(network.topology().ranks(), 1);
        const std::vector<std::uint64_t> arrivals = network.run(injections);
        EXPECT_TRUE(network.queue().empty());
        for (std::size_t i = 0; i < injections.size(); ++i) {
            ASSERT_NE(arrivals[i], TestNetwork::kNever) << i;
            ASSERT_GE(arrivals[i],
                      injections[i].at_ps + latency_of(network.routing(), injections[i].message))
                << i;
            ASSERT_GE(arrivals[i], injections[i].at_ps + alone(network, injections[i].message))
                << i;
        }
    }
}

// Every link carries exactly the messages whose route it is on, round the end of a ring too, and is
// busy as long as they take on it.
TEST_P(BackendTest, BytesAreConservedOnEveryLink) {
    for (const std::vector<Shape>& shapes : fabrics()) {
        TestNetwork network = network_of(shapes);
        const Topology& topology = network.topology();
        const std::vector<Injection> injections = random_traffic(topology.ranks(), 2);
        struct Load {
            Bandwidth rate;
            std::uint64_t bytes = 0;
            std::uint64_t busy_ps = 0;
        };
        std::map<std::pair<std::string, std::string>, Load> expected;
        for (const Injection& injection : injections) {
            for (const std::uint32_t link : route(network.routing(), injection.message)) {
                const LinkEnds ends = topology.link_ends(link);
                Load& load = expected[{topology.node_name(ends.from), topology.node_name(ends.to)}];
                load.rate = topology.link(link).bandwidth;
                load.bytes += injection.message.size.count;
                load.busy_ps += transfer_time(injection.message.size, load.rate).ps;
            }
        }
        network.run(injections);
        // Each transfer is rounded up: messages or packets one by one, fair flows all at once.
        constexpr std::uint64_t packets = 1'000'000 / 4096 + 1;
        const Contention contention = GetParam()->contention;
        std::size_t links = 0;
        for (const LinkRecord& record : network.backend().link_records()) {
            SCOPED_TRACE(record.from + " to " + record.to);
            ASSERT_EQ(expected.count({record.from, record.to}), 1U);
            const Load& load = expected[{record.from, record.to}];
            EXPECT_EQ(payload_of(*GetParam(), record).count, load.bytes);
            ++links;
            if (contention == Contention::Packet) {
                const std::uint64_t wire_ps = transfer_time(record.bytes, load.rate).ps;
                EXPECT_GE(record.busy.ps, std::max(wire_ps, load.busy_ps));
                EXPECT_LE(record.busy.ps, wire_ps + injections.size() * packets);
            } else {
                EXPECT_LE(record.busy.ps, load.busy_ps);
                EXPECT_GE(record.busy.ps + (contention == Contention::Fair ? injections.size() : 0),
                          load.busy_ps);
            }
        }
        EXPECT_EQ(links, expected.size()) << topology.describe();
    }
}

TEST_P(BackendTest, IdleLinksAreLeftOut) {
    TestNetwork network = network_of({{"ring", 8, gib_a_second(50), 500'000}});
    network.run({inject(6, 1, kMiB)});
    const std::vector<LinkRecord> records = network.backend().link_records();
    ASSERT_EQ(records.size(), 3U);
    // In the order of the links: 0 to 1, 6 to 7, 7 to 0. The wire time of 1 MiB at 50 GiB/s is
    // 2^20 / (50·2^30) s = 19.53125 us.
    const std::vector<std::pair<std::string, std::string>> ends = {
        {"0", "1"}, {"6", "7"}, {"7", "0"}};
    for (std::size_t i = 0; i < records.size(); ++i) {
        EXPECT_EQ(std::pair(records[i].from, records[i].to), ends[i]);
        EXPECT_EQ(payload_of(*GetParam(), records[i]), kMiB);
        // Packets have headers.
        EXPECT_GE(records[i].busy.ps, 19'531'250U);
        if (!GetParam()->has_packets()) {
            EXPECT_EQ(records[i].busy.ps, 19'531'250U);
        }
    }
}

TEST_P(BackendTest, AFutureInjectionStartsWhenItSays) {
    const std::vector<Shape> ring = {{"ring", 4, gib_a_second(50), 500'000}};
    const Message message{RankId{3}, RankId{0}, kMiB};
    TestNetwork network = network_of(ring);
    const std::uint64_t alone = this->alone(network, message);
    const std::vector<std::uint64_t> arrivals =
        network.run({{message, 700'000'000}, {message, 0}, {message, 1'400'000'001}});
    EXPECT_EQ(arrivals[0], 700'000'000 + alone);
    EXPECT_EQ(arrivals[1], alone);
    EXPECT_EQ(arrivals[2], 1'400'000'001 + alone);
}

TEST_P(BackendTest, TwoRunsAreEqual) {
    for (const std::vector<Shape>& shapes : fabrics()) {
        TestNetwork first = network_of(shapes);
        TestNetwork second = network_of(shapes);
        const std::vector<Injection> injections = random_traffic(first.topology().ranks(), 3);
        EXPECT_EQ(first.run(injections), second.run(injections));
        EXPECT_EQ(first.order(), second.order());
    }
}

INSTANTIATE_TEST_SUITE_P(All,
                         BackendTest,
                         testing::ValuesIn(backends().begin(), backends().end()),
                         [](const testing::TestParamInfo<const BackendInfo*>& tested) {
                             return std::string(tested.param->name);
                         });

TEST(BackendsTest, AreFoundByName) {
    for (const BackendInfo* backend : backends()) {
        EXPECT_EQ(backends().find(backend->name), backend);
        EXPECT_FALSE(backend->summary.empty());
    }
    EXPECT_EQ(backends().find("congestion"), nullptr);
    EXPECT_EQ(backends().find(""), nullptr);
}

// 10,000 bytes over links of 1, 2, 2 and 4 ps a byte (8 Tb/s, 4 Tb/s, 2 Tb/s) and 60 ns:
//   whole messages     1 + 2 + 2 + 4 = 9 ps a byte
//   the slowest link   4 ps a byte
//   packets            two of 4096 + 64 bytes and one of 1808 + 64. The last link is the slowest,
//                      and takes them without a gap once the first is there: 5 · 4160 + 4 · (2 ·
//                      4160 + 1872) ps.
TEST(BackendsTest, AStudyThatNamesNoneHasItsMessagesShareLinks) {
    const ConfigTree tree = ConfigTree::parse_text("network: {}", "study.yml");
    EXPECT_EQ(read_backend(tree.root().at("network")).name, "flow");
}

TEST(BackendsTest, SayWhatAMessageTakesAlone) {
    const std::vector<Path::Stretch> stretches = {
        {{8'000'000'000'000}, 1}, {{4'000'000'000'000}, 2}, {{2'000'000'000'000}, 1}};
    const Path path{stretches, {60'000}};
    const auto alone = [&](const char* backend, std::uint64_t bytes) {
        return backends().find(backend)->alone(path, {bytes}).ps;
    };
    EXPECT_EQ(alone("congestion_aware", 10'000), 60'000 + 90'000U);
    EXPECT_EQ(alone("congestion_unaware", 10'000), 60'000 + 40'000U);
    EXPECT_EQ(alone("flow", 10'000), 60'000 + 40'000U);
    EXPECT_EQ(alone("packet", 10'000), 60'000 + 5 * 4160 + 4 * (2 * 4160 + 1872U));
    EXPECT_EQ(alone("packet", 4096), 60'000 + 9 * 4160U);
    EXPECT_EQ(alone("packet", 0), 60'000 + 9 * 64U);
}

}  // namespace
}  // namespace astra
