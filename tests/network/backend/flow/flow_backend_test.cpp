// The flow backend: who shares with whom, and that what it leaves out of the solver changes
// nothing.
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"
#include "network/backend/flow/flow_route.h"
#include "network/backend/flow/link_blocks.h"
#include "network/backend/flow/max_min.h"
#include "network/topology/topology_reader.h"
#include "tests/network/test_network.h"

namespace astra {
namespace {

// `text` is a section `network`.
TestNetwork flow_network(const std::string& text) {
    const ConfigTree tree = ConfigTree::parse_text(text, "network.yml");
    return TestNetwork(*backends().find("flow"), read_topology(tree.root()), text);
}

std::string leaf_spine(std::uint32_t hosts, std::uint32_t per_leaf, const std::string& more = "") {
    return "dimensions: [{topology: leaf_spine, ranks: " + std::to_string(hosts) +
           ", hosts_per_leaf: " + std::to_string(per_leaf) +
           ", bandwidth: 400Gbps, latency: 500ns}]\n" + more;
}

// Times of one wire: 400 Gb/s move a byte in 20 ps.
constexpr std::uint64_t kByte = 20;

// 32 senders on four leaves and one receiver: its link is shared by all, 32 · 2^20 · 20 ps, after
// four links of 500 ns.
TEST(FlowBackendTest, Incast) {
    TestNetwork network = flow_network(leaf_spine(64, 8));
    std::vector<Injection> flows;
    for (std::uint32_t sender = 8; sender < 40; ++sender) {
        flows.push_back(inject(sender, 0, kMiB));
    }
    for (const std::uint64_t arrival : network.run(flows)) {
        EXPECT_EQ(arrival, 4 * 500'000 + 32 * kMiB.count * kByte);
    }
}

// Every pair of 64: 63 flows into each host, 63 · 2^18 · 20 ps = 330.30 us on the wire, and the
// path of the last. Flows within a leaf start 1 us sooner, so that the wire is not idle then:
// between the bound and 2 % more.
TEST(FlowBackendTest, AllToAllIsAtTheWireBound) {
    TestNetwork network = flow_network(leaf_spine(64, 8));
    std::vector<Injection> flows;
    for (std::uint32_t offset = 1; offset < 64; ++offset) {
        for (std::uint32_t source = 0; source < 64; ++source) {
            flows.push_back(inject(source, (source + offset) % 64, {1U << 18}));
        }
    }
    const std::vector<std::uint64_t> arrivals = network.run(flows);
    const std::uint64_t last = *std::max_element(arrivals.begin(), arrivals.end());
    const std::uint64_t wire = 63 * (std::uint64_t{1} << 18) * kByte;
    EXPECT_GE(last, wire);
    EXPECT_LE(last, wire + wire / 50);
}

// A permutation, sprayed: nobody shares, each takes the path and its wire time, exactly.
TEST(FlowBackendTest, ASprayedPermutationIsAtTheWireBound) {
    TestNetwork network = flow_network(leaf_spine(128, 8));
    std::vector<Injection> flows;
    for (std::uint32_t source = 0; source < 128; ++source) {
        flows.push_back(inject(source, (source * 5 + 64) % 128, {2U << 20}));
    }
    std::erase_if(flows,
                  [](const Injection& f) { return f.message.source == f.message.destination; });
    for (const std::uint64_t arrival : network.run(flows)) {
        EXPECT_GE(arrival, (std::uint64_t{2} << 20) * kByte + 2 * 500'000);
        EXPECT_LE(arrival, (std::uint64_t{2} << 20) * kByte + 4 * 500'000);
    }
}

// (Rates are whole bits a second: a third of 400 Gb/s is cut off, which costs less than a
// picosecond, rounded up to one.) Two flows of different hosts whose hashes meet on a spine have
// half the rate; others the whole.
TEST(FlowBackendTest, AnEcmpCollisionHalvesTheRate) {
    TestNetwork network = flow_network(leaf_spine(16, 8, "routing: ecmp\n"));
    Routing& routing = network.routing();
    std::map<std::uint32_t, std::vector<Injection>> by_uplink;
    for (std::uint32_t source = 0; source < 8; ++source) {
        const auto links = routing.next_links(16, source + 8);
        const auto count = static_cast<std::uint32_t>(links.size());
        const std::uint32_t choice =
            Routing::hashed_choice(routing.pair_hash(source, source + 8), 16, count);
        by_uplink[links[choice]].push_back(inject(source, source + 8, kMiB));
    }
    std::size_t meet = 0;
    for (const auto& [uplink, flows] : by_uplink) {
        TestNetwork fresh = flow_network(leaf_spine(16, 8, "routing: ecmp\n"));
        for (const std::uint64_t arrival : fresh.run(flows)) {
            EXPECT_LE(arrival - (4 * 500'000 + flows.size() * kMiB.count * kByte), 1U);
        }
        meet = std::max(meet, flows.size());
    }
    EXPECT_GE(meet, 2U);  // eight hashes on eight spines: all different with probability 0.2 %
}

// Messages of one pair: three of 1, 2 and 3 MiB share the wire and end after 3, 5 and 6 MiB.
TEST(FlowBackendTest, MessagesOfAPairShareIt) {
    TestNetwork network = flow_network(leaf_spine(16, 8));
    const auto arrivals =
        network.run({inject(0, 8, {3U << 20}), inject(0, 8, {1U << 20}), inject(0, 8, {2U << 20})});
    const std::uint64_t mib = kMiB.count * kByte;
    EXPECT_LE(arrivals[1] - (2'000'000 + 3 * mib), 1U);
    EXPECT_LE(arrivals[2] - (2'000'000 + 5 * mib), 1U);
    EXPECT_LE(arrivals[0] - (2'000'000 + 6 * mib), 1U);
}

TEST(FlowBackendTest, ACapMayBeFasterThanAnything) {
    TestNetwork network = flow_network(leaf_spine(16, 8, "flow: {rate_cap: 1e18bps}\n"));
    EXPECT_EQ(network.run({inject(0, 8, kMiB)})[0], 2'000'000 + kMiB.count * kByte);
}

// A run beyond what picoseconds can hold says so, and is no deadlock.
TEST(FlowBackendTest, TimeCanBeOver) {
    TestNetwork network =
        flow_network("dimensions: [{topology: switch, ranks: 2, bandwidth: 1bps}]\n");
    network.send(inject(1, 0, {5'000'000}));
    EXPECT_THROW(network.queue().run(), SimulationError);
}

// A byte over three spines is booked on each of them.
TEST(FlowBackendTest, PartsOfBytesCountAsBytes) {
    TestNetwork network = flow_network(
        "dimensions: [{topology: leaf_spine, ranks: 2, hosts_per_leaf: 1, spines: 3, bandwidth: "
        "10Gbps}]\n");
    network.run({inject(1, 0, {1})});
    EXPECT_EQ(network.backend().link_records().size(), 2U + 6);
}

// One flow at most 100 Gb/s: 80 ps a byte.
TEST(FlowBackendTest, TheRateOfAMessageCanBeCapped) {
    TestNetwork network = flow_network(leaf_spine(16, 8, "flow: {rate_cap: 100Gbps}\n"));
    const auto arrivals = network.run({inject(0, 8, kMiB), inject(0, 9, kMiB), inject(1, 8, kMiB)});
    for (const std::uint64_t arrival : arrivals) {
        EXPECT_EQ(arrival, 2'000'000 + kMiB.count * 80);
    }
}

// Times of a permutation, drawn by `seed`, which also hashes: of the last flow and of all together.
std::pair<double, double> permutation_times(const std::string& dimensions,
                                            std::uint32_t ranks,
                                            const std::string& routing,
                                            std::uint64_t seed) {
    std::vector<std::uint32_t> destinations(ranks);
    std::iota(destinations.begin(), destinations.end(), 0U);
    std::mt19937_64 random(seed);
    for (std::uint32_t i = ranks - 1; i > 0; --i) {
        std::swap(destinations[i], destinations[random() % (i + 1)]);
    }
    std::vector<Injection> flows;
    for (std::uint32_t source = 0; source < ranks; ++source) {
        if (destinations[source] != source) {
            flows.push_back(inject(source, destinations[source], {2U << 20}));
        }
    }
    TestNetwork network =
        flow_network(dimensions + "routing: " + routing + "\nseed: " + std::to_string(seed) + "\n");
    const std::vector<std::uint64_t> arrivals = network.run(flows);
    return {static_cast<double>(*std::max_element(arrivals.begin(), arrivals.end())),
            std::accumulate(arrivals.begin(), arrivals.end(), 0.0)};
}

// Whoever sees where others are avoids them on the way up and on the way down. Over ten seeds the
// last flow is never later than under a hash by more than 3 %, the mean never at all, and in half
// of the cases the last one is a quarter earlier at least.
TEST(FlowBackendTest, AdaptivePermutationsAreBetterThanHashedOnes) {
    const std::string links = ", bandwidth: 400Gbps, latency: 500ns}]\n";
    for (const auto& [dimensions, ranks] : std::vector<std::pair<std::string, std::uint32_t>>{
             {"dimensions: [{topology: leaf_spine, ranks: 16, hosts_per_leaf: 4" + links, 16},
             {"dimensions: [{topology: leaf_spine, ranks: 128, hosts_per_leaf: 16" + links, 128},
             {"dimensions: [{topology: leaf_spine, ranks: 64, hosts_per_leaf: 8, spines: 4" + links,
              64},
             {"dimensions: [{topology: fat_tree, ranks: 128" + links, 128}}) {
        std::vector<double> ratios;
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            const auto hashed = permutation_times(dimensions, ranks, "ecmp", seed);
            const auto adaptive = permutation_times(dimensions, ranks, "adaptive", seed);
            ratios.push_back(adaptive.first / hashed.first);
            EXPECT_LE(ratios.back(), 1.03) << dimensions << seed;
            EXPECT_LE(adaptive.second, hashed.second) << dimensions << seed;
        }
        std::sort(ratios.begin(), ratios.end());
        EXPECT_LE((ratios[4] + ratios[5]) / 2, 0.75) << dimensions;
    }
}

// Adaptive: the second flow of the leaf takes a spine that the first left free, and so on: eight
// flows over eight spines, whatever their hashes.
TEST(FlowBackendTest, AdaptiveFlowsAvoidEachOther) {
    TestNetwork network = flow_network(leaf_spine(16, 8, "routing: adaptive\n"));
    std::vector<Injection> flows;
    for (std::uint32_t source = 0; source < 8; ++source) {
        flows.push_back(inject(source, source + 8, kMiB));
    }
    for (const std::uint64_t arrival : network.run(flows)) {
        EXPECT_EQ(arrival, 2'000'000 + kMiB.count * kByte);
    }
}

// Two to one oversubscribed: eight flows out of a leaf share four spines.
TEST(FlowBackendTest, OversubscribedUplinksAreShared) {
    TestNetwork network = flow_network(
        "dimensions: [{topology: leaf_spine, ranks: 16, oversubscription: 2, bandwidth: 400Gbps, "
        "latency: 500ns}]\n");
    std::vector<Injection> flows;
    for (std::uint32_t source = 0; source < 8; ++source) {
        flows.push_back(inject(source, source + 8, kMiB));
    }
    for (const std::uint64_t arrival : network.run(flows)) {
        EXPECT_EQ(arrival, 2'000'000 + 2 * kMiB.count * kByte);
    }
}

// A spine's uplink fails half way: the flow had an eighth on it, and goes on over seven, all of
// them still as fast as the host. Then the host's only link fails: there is no path.
TEST(FlowBackendTest, LinksFailOnTheWay) {
    TestNetwork network = flow_network(leaf_spine(16, 8));
    const std::uint32_t uplink = network.routing().next_links(16, 8)[3];
    network.send(inject(0, 8, kMiB));
    network.queue().run_until({12'000'000});
    network.backend().set_link(LinkId{uplink}, false);
    network.queue().run();
    EXPECT_EQ(network.arrivals()[0], 2'000'000 + kMiB.count * kByte);
    std::uint64_t carried = 0;
    for (const LinkRecord& record : network.backend().link_records()) {
        carried += record.from == "leaf0" ? record.bytes.count : 0;
    }
    EXPECT_NEAR(static_cast<double>(carried), static_cast<double>(kMiB.count), 8);
    network.send(inject(0, 8, kMiB, network.queue().now().ps));
    network.queue().run_until({network.queue().now().ps + 3'000'000});
    try {
        network.backend().set_link(LinkId{0}, false);
        FAIL() << "the rank's link is gone";
    } catch (const SimulationError& error) {
        EXPECT_NE(std::string(error.what()).find("no path from rank 0 to rank 8"),
                  std::string::npos)
            << error.what();
    }
}

// On a line whose ranks forward, the path to the rank that is cut off must not be looked for for
// ever.
TEST(FlowBackendTest, ARankThatIsCutOffIsNotLookedForInCircles) {
    TestNetwork network =
        flow_network("dimensions: [{topology: line, ranks: 3, bandwidth: 10Gbps, latency: 1us}]\n");
    const LinkEnds wanted{1, 2};
    for (std::uint32_t link = 0; link < network.topology().links(); ++link) {
        const LinkEnds ends = network.topology().link_ends(link);
        if (ends.from == wanted.from && ends.to == wanted.to) {
            network.backend().set_link(LinkId{link}, false);
        }
    }
    network.send(inject(0, 1, kMiB));
    network.queue().run();
    EXPECT_EQ(network.arrivals()[0], 1'000'000 + kMiB.count * 800);
    EXPECT_THROW(network.send(inject(0, 2, kMiB, network.queue().now().ps)), SimulationError);
}

// What the backend is to do, with a constraint for every link and a flow of the solver for every
// message: no blocks, no classes.
class EveryLinkAConstraint {
  public:
    explicit EveryLinkAConstraint(const std::string& text)
        : tree_(ConfigTree::parse_text(text, "network.yml")),
          topology_(read_topology(tree_.root())),
          routing_(read_routing(tree_.root(), topology_, *backends().find("flow"))),
          finder_(routing_) {
        for (std::uint32_t link = 0; link < topology_.links(); ++link) {
            links_.push_back(solver_.add_constraint(topology_.link(link).bandwidth));
        }
    }

    std::vector<std::uint64_t> run(const std::vector<Injection>& injections) {
        std::multimap<std::uint64_t, std::size_t> starts;
        FlowRoute route;
        for (std::size_t i = 0; i < injections.size(); ++i) {
            finder_.find(index(injections[i].message.source),
                         index(injections[i].message.destination),
                         {},
                         route);
            std::vector<MaxMin::Use> uses;
            for (const LinkShare& share : route.shares) {
                uses.push_back({links_[share.link], share.part});
            }
            uses_.push_back(uses);
            latencies_ps_.push_back(route.latency.ps);
            starts.emplace(injections[i].at_ps, i);
        }
        std::vector<std::uint64_t> arrivals(injections.size());
        while (!starts.empty() || solver_.flows() > 0) {
            const std::uint64_t start = starts.empty() ? kMaxPs : starts.begin()->first;
            const std::uint64_t now = std::min(start, solver_.next_completion().ps);
            for (const MaxMin::Completion& done : solver_.pop_completed({now})) {
                arrivals[done.tag] = now + latencies_ps_[done.tag];
            }
            while (!starts.empty() && starts.begin()->first == now) {
                const std::size_t i = starts.begin()->second;
                solver_.add_flow(uses_[i], MaxMin::work_of(injections[i].message.size), i);
                starts.erase(starts.begin());
            }
            solver_.solve({now});
        }
        return arrivals;
    }

  private:
    ConfigTree tree_;
    Topology topology_;
    Routing routing_;
    RouteFinder finder_;
    MaxMin solver_;
    std::vector<MaxMin::ConstraintId> links_;
    std::vector<std::vector<MaxMin::Use>> uses_;
    std::vector<std::uint64_t> latencies_ps_;
};

std::vector<std::string> fabrics_of_many_ways() {
    std::vector<std::string> all;
    for (const std::string routing : {"spray", "ecmp", "dimension_order"}) {
        const std::string end = "routing: " + routing + "\n";
        all.push_back(leaf_spine(16, 4, end));
        all.push_back(
            "dimensions: [{topology: leaf_spine, ranks: 18, hosts_per_leaf: 6, "
            "oversubscription: 2, planes: 2, bandwidth: 100Gbps, latency: 300ns}]\n" +
            end);
        all.push_back(
            "dimensions: [{topology: fat_tree, ranks: 27, hosts_per_leaf: 3, "
            "leaves_per_pod: 3, bandwidth: 100Gbps, core_bandwidth: 30Gbps}]\n" +
            end);
        all.push_back(
            "dimensions: [{topology: dragonfly, ranks: 36, bandwidth: 100Gbps, "
            "global_bandwidth: 70Gbps, latency: 1us}]\n" +
            end);
        all.push_back(
            "dimensions: [{topology: rail_optimised, ranks: 16, domain: 4, bandwidth: "
            "400Gbps, nodes_per_leaf: 2, domain_bandwidth: 900Gbps, latency: 1us}]\n" +
            end);
        all.push_back(
            "dimensions: [{topology: ring, ranks: 4, bandwidth: 100Gbps}, {topology: "
            "leaf_spine, ranks: 6, hosts_per_leaf: 2, bandwidth: 50Gbps}]\n" +
            end);
        all.push_back(
            "dimensions: [{topology: ring, ranks: 3, bandwidth: 100Gbps}, {topology: "
            "ring, ranks: 3, bandwidth: 50Gbps}, {topology: switch, ranks: 2, bandwidth: "
            "80Gbps}]\n" +
            end);
        all.push_back(leaf_spine(16,
                                 4,
                                 "links: [{from: leaf0, to: spine1, bandwidth: 100Gbps}, {from: "
                                 "leaf2, to: spine0, down: true}]\n" +
                                     end));
    }
    return all;
}

// Random traffic, with pairs that repeat and starts that coincide. Rates are whole bits a second,
// cut off once a constraint: so times agree but for what one bit/s in 10^10 makes of 100 us.
TEST(FlowBackendTest, BlocksAndClassesChangeNothing) {
    for (const std::string& text : fabrics_of_many_ways()) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
            TestNetwork network = flow_network(text);
            const std::uint32_t ranks = network.topology().ranks();
            std::mt19937_64 random(seed);
            std::vector<Injection> flows;
            for (int i = 0; i < 150; ++i) {
                const auto source = static_cast<std::uint32_t>(random() % ranks);
                const auto offset =
                    static_cast<std::uint32_t>(1 + random() % std::min(ranks - 1, 7U));
                flows.push_back(inject(source,
                                       (source + offset) % ranks,
                                       {1 + random() % 1'000'000},
                                       random() % 40 * 1'000'000));
            }
            const std::vector<std::uint64_t> expected = EveryLinkAConstraint(text).run(flows);
            const std::vector<std::uint64_t> arrivals = network.run(flows);
            for (std::size_t i = 0; i < flows.size(); ++i) {
                ASSERT_NEAR(static_cast<double>(arrivals[i]), static_cast<double>(expected[i]), 200)
                    << text << "seed " << seed << ", flow " << i;
            }
        }
    }
}

// A leaf that is not oversubscribed needs no constraint for its uplinks; one that is does.
TEST(LinkBlocksTest, OnlyWhatCanBeFullFirstIsAConstraint) {
    for (const bool oversubscribed : {false, true}) {
        const std::string text = leaf_spine(16, 8);
        const ConfigTree tree = ConfigTree::parse_text(
            oversubscribed ? "dimensions: [{topology: leaf_spine, ranks: 16, spines: 4, bandwidth: "
                             "400Gbps}]"
                           : text,
            "network.yml");
        const Topology topology = read_topology(tree.root());
        Routing routing(topology, RoutePolicy::Spray, 1);
        RouteFinder finder(routing);
        LinkBlocks blocks(topology);
        FlowRoute route;
        std::size_t uses = 0;
        for (int round = 0; round < 2; ++round) {
            for (std::uint32_t source = 0; source < 8; ++source) {
                finder.find(source, source + 8, {}, route);
                uses = blocks.enter(route).size();
            }
        }
        EXPECT_EQ(uses, oversubscribed ? 4U : 2U);
    }
}

}  // namespace
}  // namespace astra
