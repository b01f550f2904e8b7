// Conformance: what every network backend keeps to.
#include "network/backend/backend.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network/backend/packet/packet_law.h"
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
    std::vector<std::uint32_t> links;
    std::uint32_t node = index(message.source);
    while (node != index(message.destination)) {
        const Hop hop = routing.next_hop(node, index(message.source), index(message.destination));
        for (std::uint32_t step = 0; step < hop.count; ++step) {
            links.push_back(routing.link_of(hop, step));
        }
        node = hop.end;
    }
    return links;
}

std::uint64_t latency_of(Routing& routing, const Message& message) {
    std::uint64_t sum = 0;
    for (const std::uint32_t link : route(routing, message)) {
        sum += routing.topology().link(link).latency.ps;
    }
    return sum;
}

// The time that a backend promises on a path that nobody else uses.
std::uint64_t law(std::string_view backend, Routing& routing, const Message& message) {
    if (backend == "packet") {
        std::vector<LinkProperties> path;
        for (const std::uint32_t link : route(routing, message)) {
            path.push_back(routing.topology().link(link));
        }
        return packet_law(path, message.size, {.header_bytes = 0});
    }
    std::uint64_t wires = 0;
    std::uint64_t slowest = 0;
    for (const std::uint32_t link : route(routing, message)) {
        const std::uint64_t wire =
            transfer_time(message.size, routing.topology().link(link).bandwidth).ps;
        wires += wire;
        slowest = std::max(slowest, wire);
    }
    if (backend == "congestion_aware") {
        return latency_of(routing, message) + wires;
    }
    // Served at the bandwidth of the slowest link once the latency is over.
    if (backend == "congestion_unaware" || backend == "flow") {
        return latency_of(routing, message) + slowest;
    }
    throw std::invalid_argument("write down the law of " + std::string(backend));
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

class BackendTest : public testing::TestWithParam<const BackendInfo*> {};

TEST_P(BackendTest, AnEmptyPathGivesTheLaw) {
    // A message of 4 GiB would be a million packets.
    const std::uint64_t largest = std::uint64_t{1} << (GetParam()->has_packets ? 20 : 32);
    for (const std::vector<Shape>& shapes : fabrics()) {
        TestNetwork network(*GetParam(), shapes);
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
                    ASSERT_EQ(network.arrivals()[id] - now_ps,
                              law(GetParam()->name, network.routing(), injection.message))
                        << network.topology().describe() << ": " << size << " bytes from " << source
                        << " to " << destination;
                }
            }
        }
    }
}

TEST_P(BackendTest, AMessageWithoutBytesTakesTheLatency) {
    for (const std::vector<Shape>& shapes : fabrics()) {
        TestNetwork network(*GetParam(), shapes);
        const Injection injection = inject(0, network.topology().ranks() - 1, {0});
        EXPECT_EQ(network.run({injection})[0], latency_of(network.routing(), injection.message));
        EXPECT_TRUE(network.backend().link_records().empty());
    }
}

TEST_P(BackendTest, EveryMessageArrivesAndNoneTooEarly) {
    for (const std::vector<Shape>& shapes : fabrics()) {
        TestNetwork network(*GetParam(), shapes);
        const std::vector<Injection> injections = random_traffic(network.topology().ranks(), 1);
        const std::vector<std::uint64_t> arrivals = network.run(injections);
        EXPECT_TRUE(network.queue().empty());
        for (std::size_t i = 0; i < injections.size(); ++i) {
            ASSERT_NE(arrivals[i], TestNetwork::kNever) << i;
            ASSERT_GE(arrivals[i],
                      injections[i].at_ps + latency_of(network.routing(), injections[i].message))
                << i;
            ASSERT_GE(arrivals[i],
                      injections[i].at_ps +
                          law(GetParam()->name, network.routing(), injections[i].message))
                << i;
        }
    }
}

// Every link carries exactly the messages whose route it is on, round the end of a ring too, and is
// busy as long as they take on it.
TEST_P(BackendTest, BytesAreConservedOnEveryLink) {
    for (const std::vector<Shape>& shapes : fabrics()) {
        TestNetwork network(*GetParam(), shapes);
        const Topology& topology = network.topology();
        const std::vector<Injection> injections = random_traffic(topology.ranks(), 2);
        using Load = std::pair<std::uint64_t, std::uint64_t>;  // bytes, busy
        std::map<std::pair<std::string, std::string>, Load> expected;
        for (const Injection& injection : injections) {
            for (const std::uint32_t link : route(network.routing(), injection.message)) {
                const LinkEnds ends = topology.link_ends(link);
                Load& load = expected[{topology.node_name(ends.from), topology.node_name(ends.to)}];
                const Bandwidth rate = topology.link(link).bandwidth;
                load.first += injection.message.size.count;
                load.second += transfer_time(injection.message.size, rate).ps;
            }
        }
        network.run(injections);
        std::map<std::pair<std::string, std::string>, Load> actual;
        // Each transfer is rounded up: packets one by one, the flow backend's all at once.
        constexpr std::int64_t packets = 1'000'000 / 4096 + 1;
        const std::string_view name = GetParam()->name;
        const std::int64_t most = name == "packet" ? std::ssize(injections) * packets : 0;
        const std::int64_t least = name == "flow" ? -std::ssize(injections) : 0;
        for (const LinkRecord& record : network.backend().link_records()) {
            EXPECT_TRUE(
                actual.insert({{record.from, record.to}, {record.bytes.count, record.busy.ps}})
                    .second);
        }
        ASSERT_EQ(actual.size(), expected.size()) << topology.describe();
        for (const auto& [ends, load] : expected) {
            EXPECT_EQ(actual[ends].first, load.first) << ends.first << " to " << ends.second;
            const auto more = static_cast<std::int64_t>(actual[ends].second - load.second);
            EXPECT_TRUE(more >= least && more <= most) << ends.first << " to " << ends.second;
        }
    }
}

TEST_P(BackendTest, IdleLinksAreLeftOut) {
    TestNetwork network(*GetParam(), {{"ring", 8, gib_a_second(50), 500'000}});
    network.run({inject(6, 1, kMiB)});
    const std::vector<LinkRecord> records = network.backend().link_records();
    ASSERT_EQ(records.size(), 3U);
    // In the order of the links: 0 to 1, 6 to 7, 7 to 0. The wire time of 1 MiB at 50 GiB/s is
    // 2^20 / (50·2^30) s = 19.53125 us.
    const std::vector<std::pair<std::string, std::string>> ends = {
        {"0", "1"}, {"6", "7"}, {"7", "0"}};
    for (std::size_t i = 0; i < records.size(); ++i) {
        EXPECT_EQ(std::pair(records[i].from, records[i].to), ends[i]);
        EXPECT_EQ(records[i].bytes, kMiB);
        // 256 packets, each rounded up: 256 · 76,294.
        EXPECT_EQ(records[i].busy.ps, GetParam()->has_packets ? 19'531'264U : 19'531'250U);
    }
}

TEST_P(BackendTest, AFutureInjectionStartsWhenItSays) {
    const std::vector<Shape> ring = {{"ring", 4, gib_a_second(50), 500'000}};
    const Message message{RankId{3}, RankId{0}, kMiB};
    TestNetwork network(*GetParam(), ring);
    const std::uint64_t alone = law(GetParam()->name, network.routing(), message);
    const std::vector<std::uint64_t> arrivals =
        network.run({{message, 700'000'000}, {message, 0}, {message, 1'400'000'001}});
    EXPECT_EQ(arrivals[0], 700'000'000 + alone);
    EXPECT_EQ(arrivals[1], alone);
    EXPECT_EQ(arrivals[2], 1'400'000'001 + alone);
}

TEST_P(BackendTest, TwoRunsAreEqual) {
    for (const std::vector<Shape>& shapes : fabrics()) {
        TestNetwork first(*GetParam(), shapes);
        TestNetwork second(*GetParam(), shapes);
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

}  // namespace
}  // namespace astra
