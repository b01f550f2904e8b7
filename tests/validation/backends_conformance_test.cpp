// What every backend and transport keeps to on every kind of fabric, under every routing policy
// that it takes: random traffic, all kinds and backends from their tables.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/validation/small_fabrics.h"

namespace astra::test {
namespace {

// The least sum of latencies along any path that the policy may take.
std::uint64_t least_latency(Routing& routing, std::uint32_t node, std::uint32_t destination) {
    if (node == destination) {
        return 0;
    }
    const auto next = routing.next_links(node, destination);
    std::uint64_t least = kMaxPs;
    for (const std::uint32_t link : std::vector<std::uint32_t>(next.begin(), next.end())) {
        const std::uint64_t rest =
            least_latency(routing, routing.topology().link_ends(link).to, destination);
        least = std::min(least, routing.topology().link(link).latency.ps + rest);
    }
    return least;
}

// Latency, and the whole message over all links of its ends at once.
void expect_nothing_early(TestNetwork& network, const std::vector<Injection>& sent) {
    for (std::size_t i = 0; i < sent.size(); ++i) {
        const std::uint32_t source = index(sent[i].message.source);
        const std::uint32_t destination = index(sent[i].message.destination);
        const std::uint64_t ends =
            std::min(rate_of(network, source, true), rate_of(network, destination, false));
        ASSERT_NE(network.arrivals()[i], TestNetwork::kNever) << "message " << i;
        ASSERT_GE(network.arrivals()[i],
                  sent[i].at_ps + least_latency(network.routing(), source, destination) +
                      transfer_time(sent[i].message.size, {ends}).ps)
            << "message " << i;
    }
}

struct Carried {
    std::vector<double> in;  // payload, by node
    std::vector<double> out;
    bool lost = false;
    double rounding = 1;  // bytes; a share of a flow is rounded once a link
};

Carried carried_by(const TestNetwork& network, NetworkBackend& backend, bool has_packets) {
    const Topology& topology = network.topology();
    std::map<std::string, std::uint32_t> nodes;
    for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
        nodes[topology.node_name(node)] = node;
    }
    Carried carried;
    carried.in.resize(topology.nodes());
    carried.out.resize(topology.nodes());
    for (const LinkRecord& record : backend.link_records()) {
        const auto bytes =
            static_cast<double>(has_packets ? record.payload.count : record.bytes.count);
        carried.out[nodes.at(record.from)] += bytes;
        carried.in[nodes.at(record.to)] += bytes;
        carried.lost = carried.lost || record.trims > 0 || record.drops > 0;
        carried.rounding += 0.5;
    }
    return carried;
}

// What comes into a switch leaves it, and what comes into a rank is for it or leaves it. So the
// only link to a rank carries what is sent to it, the only link out what it sends. Where packets
// are lost or trimmed, they are sent again: more comes in than leaves. A receiver that wants
// packets in order has them sent again too where they overtake each other; then `sent_once` is
// false.
void expect_bytes_conserved(TestNetwork& network,
                            const std::vector<Injection>& sent,
                            bool has_packets,
                            bool sent_once) {
    const Topology& topology = network.topology();
    const Carried carried = carried_by(network, network.backend(), has_packets);
    std::vector<double> received(topology.ranks());
    std::vector<double> injected(topology.ranks());
    for (const Injection& injection : sent) {
        const auto bytes = static_cast<double>(injection.message.size.count);
        injected[index(injection.message.source)] += bytes;
        received[index(injection.message.destination)] += bytes;
    }
    for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
        const double in = carried.in[node];
        const double out = carried.out[node];
        const std::string name = topology.node_name(node);
        if (node >= topology.ranks()) {
            EXPECT_GE(in - out, -carried.rounding) << name;
            if (!carried.lost) {
                EXPECT_NEAR(in, out, carried.rounding) << name;
            }
            continue;
        }
        EXPECT_GE(in, received[node] - carried.rounding) << name;
        EXPECT_GE(out, injected[node] - carried.rounding) << name;
        if (!carried.lost && sent_once) {
            EXPECT_NEAR(in - received[node], out - injected[node], carried.rounding) << name;
            if (!topology.forwards(node)) {
                EXPECT_NEAR(in, received[node], carried.rounding) << name;
            }
        }
    }
}

using Records = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
Records bytes_and_busy(NetworkBackend& backend) {
    Records records;
    for (const LinkRecord& record : backend.link_records()) {
        records.emplace_back(record.bytes.count, record.busy.ps);
    }
    return records;
}

class Conformance : public OnFabric {};

TEST_P(Conformance, AllArrivesNothingEarlyBytesConservedTwiceTheSame) {
    for (const std::string& policy : policies_of(*model().backend)) {
        SCOPED_TRACE(policy);
        const std::string keys = fabric() + ", routing: " + policy;
        TestNetwork first = network_of(model(), keys);
        TestNetwork second = network_of(model(), keys);
        const std::vector<Injection> sent = little_traffic(first.topology().ranks(), 1);
        first.run(sent);
        second.run(sent);
        expect_nothing_early(first, sent);
        expect_bytes_conserved(first,
                               sent,
                               model().backend->has_packets(),
                               !overtakes(model(), first.routing().policy()));
        EXPECT_EQ(first.arrivals(), second.arrivals());
        EXPECT_EQ(first.order(), second.order());
        EXPECT_EQ(first.queue().executed(), second.queue().executed());
        EXPECT_EQ(bytes_and_busy(first.backend()), bytes_and_busy(second.backend()));
    }
}

INSTANTIATE_TEST_SUITE_P(All,
                         Conformance,
                         testing::Combine(testing::ValuesIn(models_with_loss()),
                                          testing::ValuesIn(Fabrics::names())),
                         param_name);

// A backend with the defaults of its keys, on a fabric.
class Alone : public testing::TestWithParam<std::tuple<const BackendInfo*, std::string>> {};

// One message at a time, on one path, takes what the backend says, to the picosecond, between the
// first rank and every other one, both ways.
TEST_P(Alone, IsWhatAMessageTakes) {
    const auto& [backend, fabric] = GetParam();
    const Fabrics fabrics;
    const std::string text = "{" + fabrics.keys(fabric) + ", routing: ecmp}";
    const ConfigTree tree = ConfigTree::parse_text(text, "network.yml");
    TestNetwork network(*backend, read_topology(tree.root()), text);
    const auto expect = [&](std::uint32_t source, std::uint32_t destination, Bytes size) {
        const std::uint64_t now_ps = network.queue().now().ps;
        const Injection injection = inject(source, destination, size, now_ps);
        const std::size_t id = network.send(injection);
        network.queue().run();
        EXPECT_EQ(network.arrivals()[id] - now_ps,
                  alone_ps(*backend, network.routing(), injection.message))
            << size.count << " bytes from " << source << " to " << destination;
    };
    for (std::uint32_t rank = 1; rank < network.topology().ranks(); ++rank) {
        for (const std::uint64_t size : {0U, 1U, 4'096U, 4'097U, 1'000'003U, 1U << 20U}) {
            expect(0, rank, {size});
            expect(rank, 0, {size});
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All,
                         Alone,
                         testing::Combine(testing::ValuesIn(backends().begin(), backends().end()),
                                          testing::ValuesIn(Fabrics::names())),
                         [](const testing::TestParamInfo<Alone::ParamType>& tested) {
                             return std::string(std::get<0>(tested.param)->name) + "_" +
                                    std::get<1>(tested.param);
                         });

}  // namespace
}  // namespace astra::test
