// Fabrics of switches: how many nodes and links, which equal-cost paths, and what their files
// refuse.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"
#include "network/routing/routing.h"
#include "network/topology/topology_reader.h"
#include "tests/support/experiment.h"

namespace astra {
namespace {

// A network of one dimension, or of the whole text where it has lines.
class Network {
  public:
    explicit Network(const std::string& text)
        : tree_(ConfigTree::parse_text(text, "network.yml")),
          topology_(read_topology(tree_.root())),
          routing_(read_routing(tree_.root(), topology_, RoutePolicy::Ecmp, "")) {}

    const Topology& topology() const { return topology_; }
    Routing& routing() { return routing_; }
    std::size_t switches() const { return topology_.nodes() - topology_.ranks(); }
    // Links on a shortest path, and how many such paths there are.
    struct Shortest {
        std::uint32_t links = 0;
        std::uint64_t paths = 0;
    };
    Shortest shortest(std::uint32_t node, std::uint32_t destination) {
        if (node == destination) {
            return {0, 1};
        }
        Shortest sum;
        const auto next = routing_.next_links(node, destination);
        for (const std::uint32_t link : std::vector<std::uint32_t>(next.begin(), next.end())) {
            const Shortest rest = shortest(topology_.link_ends(link).to, destination);
            sum = {rest.links + 1, sum.paths + rest.paths};
        }
        return sum;
    }
    std::uint32_t node(const std::string& name) const {
        for (std::uint32_t node = 0; node < topology_.nodes(); ++node) {
            if (topology_.node_name(node) == name) {
                return node;
            }
        }
        ADD_FAILURE() << "no node " << name;
        return 0;
    }
    LinkProperties link(const std::string& from, const std::string& to) const {
        for (std::uint32_t link = 0; link < topology_.links(); ++link) {
            const LinkEnds ends = topology_.link_ends(link);
            if (topology_.node_name(ends.from) == from && topology_.node_name(ends.to) == to) {
                return topology_.link(link);
            }
        }
        ADD_FAILURE() << "no link " << from << " to " << to;
        return {};
    }

  private:
    ConfigTree tree_;
    Topology topology_;
    Routing routing_;
};

Network one_dimension(const std::string& keys) {
    return Network("dimensions: [{bandwidth: 400Gbps, latency: 500ns, " + keys + "}]\n");
}

void expect_error(const std::string& text, const std::vector<std::string>& parts) {
    try {
        const Network network(text);
        FAIL() << "accepted: " << text;
    } catch (const ConfigError& error) {
        for (const std::string& part : parts) {
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
                << error.what() << "\nlacks: " << part;
        }
    }
}

// 64 hosts, 8 a leaf: 8 leaves and 8 spines (non-blocking), 2·64 host links and 2·64 uplinks.
TEST(LeafSpineTest, CountsAndWays) {
    Network network = one_dimension("topology: leaf_spine, ranks: 64, hosts_per_leaf: 8");
    EXPECT_EQ(network.switches(), 16U);
    EXPECT_EQ(network.topology().links(), 256U);
    EXPECT_EQ(network.shortest(0, 7).links, 2U);
    EXPECT_EQ(network.shortest(0, 7).paths, 1U);
    EXPECT_EQ(network.shortest(0, 8).links, 4U);
    EXPECT_EQ(network.shortest(0, 8).paths, 8U);
    EXPECT_EQ(network.topology().node_name(64), "leaf0");
    EXPECT_EQ(network.topology().node_name(72), "spine0");
}

// Oversubscription 2 halves the spines; uplinks twice as fast halve them again; both: 8 / 4 = 2.
TEST(LeafSpineTest, OversubscriptionAndFasterUplinks) {
    EXPECT_EQ(one_dimension("topology: leaf_spine, ranks: 64, oversubscription: 2").switches(),
              12U);
    EXPECT_EQ(
        one_dimension("topology: leaf_spine, ranks: 64, uplink_bandwidth: 800Gbps").switches(),
        12U);
    const Network network = one_dimension(
        "topology: leaf_spine, ranks: 64, uplink_bandwidth: 800Gbps, oversubscription: 2, "
        "uplink_latency: 2us, switch_latency: 300ns");
    EXPECT_EQ(network.switches(), 10U);
    EXPECT_EQ(network.link("leaf0", "spine1").bandwidth.bits_per_s, 800'000'000'000U);
    EXPECT_EQ(network.link("leaf0", "spine1").latency.ps, 2'300'000U);
    EXPECT_EQ(network.link("0", "leaf0").latency.ps, 500'000U);
    EXPECT_EQ(network.link("leaf0", "0").latency.ps, 800'000U);
}

// Two planes with two NICs each: 4 links a host, 2·2 paths to a neighbour on the leaf... each NIC
// of a plane reaches it by each of its two NICs there: 2 planes · 2 · 2.
TEST(LeafSpineTest, PlanesAndNics) {
    Network network = one_dimension(
        "topology: leaf_spine, ranks: 4, hosts_per_leaf: 2, planes: 2, nics: 4, spines: 3");
    EXPECT_EQ(network.switches(), 2U * (2 + 3));
    EXPECT_EQ(network.topology().links(), 2U * 2 * (4 * 2 + 2 * 3));
    EXPECT_EQ(network.shortest(0, 1).paths, 2U * 2 * 2);
    EXPECT_EQ(network.shortest(0, 2).paths, 2U * 2 * 3 * 2);
    EXPECT_EQ(network.topology().node_name(4 + 5), "plane1.leaf0");
}

// The last leaf is not full: 5 hosts, 2 a leaf, 3 leaves.
TEST(LeafSpineTest, ALeafNeedNotBeFull) {
    Network network = one_dimension("topology: leaf_spine, ranks: 5, hosts_per_leaf: 2, spines: 1");
    EXPECT_EQ(network.switches(), 4U);
    EXPECT_EQ(network.shortest(4, 0).links, 4U);
}

// 16 hosts, 2 a leaf, 2 leaves a pod: 4 pods; the k = 4 fat tree of Al-Fares et al.: 8 leaves, 8
// aggregations, 4 cores; 4 paths between pods, 2 within.
TEST(FatTreeTest, IsTheFatTreeOfFour) {
    Network network =
        one_dimension("topology: fat_tree, ranks: 16, hosts_per_leaf: 2, leaves_per_pod: 2");
    EXPECT_EQ(network.switches(), 20U);
    EXPECT_EQ(network.topology().links(), 2U * 3 * 16);
    EXPECT_EQ(network.shortest(0, 1).links, 2U);
    EXPECT_EQ(network.shortest(0, 2).links, 4U);
    EXPECT_EQ(network.shortest(0, 2).paths, 2U);
    EXPECT_EQ(network.shortest(0, 4).links, 6U);
    EXPECT_EQ(network.shortest(0, 4).paths, 4U);
}

// Four nodes of 8: rank 8·n + i is on rail i. Same node: over the node's switch. Same rail: one
// leaf. Otherwise over the spines, of which there are 4 (4 links of a leaf down, 4 up).
TEST(RailOptimisedTest, RailsAndNodes) {
    Network network =
        one_dimension("topology: rail_optimised, ranks: 32, domain_bandwidth: 900GB/s");
    EXPECT_EQ(network.switches(), 4U + 8 + 4);
    EXPECT_EQ(network.shortest(0, 7).links, 2U);
    EXPECT_EQ(network.shortest(3, 8 + 3).links, 2U);
    EXPECT_EQ(network.shortest(0, 8 + 1).links, 4U);
    EXPECT_EQ(network.shortest(0, 8 + 1).paths, 4U);
    EXPECT_EQ(network.link("0", "node0").bandwidth.bits_per_s, 7'200'000'000'000U);
    ASSERT_EQ(network.topology().dimensions(), 2U);
    EXPECT_EQ(network.topology().ports(0), 8U);
    EXPECT_EQ(network.topology().coordinate(19, 1), 2U);
}

// Rails alone: to another rail a rank goes over its node's switch, before or after the rail.
TEST(RailOptimisedTest, RailsAloneForwardOverTheNode) {
    Network network = one_dimension("topology: rail_optimised, ranks: 32, spines: 0");
    EXPECT_EQ(network.shortest(0, 8 + 1).links, 4U);
    EXPECT_EQ(network.shortest(0, 8 + 1).paths, 2U);
    expect_error(
        "dimensions: [{topology: rail_optimised, ranks: 32, bandwidth: 1GB/s, spines: 0, forward: "
        "no}]",
        {"no path from rank 9 to rank 0, nor for 671 other", "network.yml:1"});
}

// a = 2, h = p = 1: 3 groups of 2 routers. The global links join router 0 of group g to router 1
// of group g + 1... each router has one.
TEST(DragonflyTest, TheSmallestBalancedOne) {
    Network network = one_dimension("topology: dragonfly, ranks: 6");
    EXPECT_EQ(network.switches(), 6U);
    EXPECT_EQ(network.topology().links(), 2U * (6 + 3 + 3));
    std::map<std::string, int> global;
    for (std::uint32_t link = 0; link < network.topology().links(); ++link) {
        const LinkEnds ends = network.topology().link_ends(link);
        if (ends.from >= 6 && ends.to >= 6 && (ends.from - 6) / 2 != (ends.to - 6) / 2) {
            ++global[network.topology().node_name(ends.from)];
        }
    }
    EXPECT_EQ(global.size(), 6U);
    for (const auto& [router, links] : global) {
        EXPECT_EQ(links, 1) << router;
    }
}

// p = h = 2, a = 4: 9 groups, 72 hosts; no two hosts are more than host-local-global-local-host
// apart, and every two groups have exactly one link.
TEST(DragonflyTest, EveryTwoGroupsAreJoined) {
    Network network = one_dimension("topology: dragonfly, ranks: 72");
    ASSERT_EQ(network.switches(), 36U);
    std::set<std::pair<std::uint32_t, std::uint32_t>> joined;
    for (std::uint32_t link = 0; link < network.topology().links(); ++link) {
        const LinkEnds ends = network.topology().link_ends(link);
        if (ends.from >= 72 && ends.to >= 72) {
            joined.insert({(ends.from - 72) / 4, (ends.to - 72) / 4});
        }
    }
    EXPECT_EQ(joined.size(), 9U * 9);
    for (std::uint32_t destination = 1; destination < 72; ++destination) {
        EXPECT_LE(network.shortest(0, destination).links, 5U) << destination;
    }
    expect_error(
        "dimensions: [{topology: dragonfly, ranks: 73, bandwidth: 1GB/s, "
        "hosts_per_router: 2, routers_per_group: 4, global_links_per_router: 2}]",
        {"73 ranks make 10 groups of 8", "at most 9"});
}

class CustomTest : public testing::Test {
  protected:
    // A study of the graph `text`.
    std::string study(const std::string& text) {
        std::ofstream(folder_.path() + "/graph.yml") << text;
        return "dimensions: [{topology: custom, file: " + folder_.path() + "/graph.yml}]\n";
    }
    test::ScratchFolder folder_;
};

TEST_F(CustomTest, HostsSwitchesAndLinksOfTheirOwn) {
    Network network(
        study("hosts: [a, b, c]\n"
              "switches: [s, t]\n"
              "bandwidth: 100Gbps\n"
              "latency: 1us\n"
              "links:\n"
              "  - {from: a, to: s}\n"
              "  - {from: b, to: t, bandwidth: 25Gbps}\n"
              "  - {from: c, to: t, latency: 7us}\n"
              "  - {from: s, to: t, count: 2}\n"
              "  - {from: s, to: b, direction: one, bandwidth: 10Gbps}\n"));
    EXPECT_EQ(network.topology().ranks(), 3U);
    EXPECT_EQ(network.topology().links(), 2U * 5 + 1);
    EXPECT_EQ(network.shortest(0, 1).links, 2U);  // by the link of one direction
    EXPECT_EQ(network.shortest(1, 0).links, 3U);
    EXPECT_EQ(network.shortest(1, 0).paths, 2U);
    EXPECT_EQ(network.link("1", "t").bandwidth.bits_per_s, 25'000'000'000U);
    EXPECT_EQ(network.link("t", "2").latency.ps, 7'000'000U);
    EXPECT_EQ(network.link("s", "1").bandwidth.bits_per_s, 10'000'000'000U);
}

// Hosts do not forward unless told to: a - b - c is cut without it.
TEST_F(CustomTest, HostsForwardOnlyWhereTheFileSaysSo) {
    const std::string links =
        "hosts: 3\nbandwidth: 1GB/s\nlinks: [{from: host0, to: host1}, {from: host1, to: host2}]\n";
    Network network(study(links + "hosts_forward: true\n"));
    EXPECT_EQ(network.shortest(0, 2).links, 2U);
    expect_error(study(links), {"no path from rank 2 to rank 0", "nor for 1 other"});
}

TEST_F(CustomTest, WhatIsWrongIsSaidWithFileAndLine) {
    expect_error(study("hosts: 2\nlinks:\n  - {from: host0, to: hots1, bandwidth: 1GB/s}\n"),
                 {"graph.yml:3", "no host or switch 'hots1'", "did you mean 'host1'"});
    expect_error(study("hosts: 2\nlinks:\n  - {from: host0, to: host1, bandwidth: 0GB/s}\n"),
                 {"graph.yml:3", "bandwidth above 0"});
    expect_error(study("hosts: 2\nlinks:\n  - {from: host0, to: host1}\n"),
                 {"graph.yml:3", "bandwidth"});
    expect_error(study("hosts: 2\nlinks:\n  - {from: host0, to: host0, bandwidth: 1GB/s}\n"),
                 {"graph.yml:3", "to itself"});
    expect_error(study("hosts: [a, b, a]\nlinks: []\n"), {"graph.yml:1", "'a' is there twice"});
    expect_error(study("hosts: 0\nlinks: []\n"), {"graph.yml:1", "at least one host"});
    expect_error(study("hosts: 9999999999\nlinks: []\n"), {"graph.yml:1"});
    expect_error(study("hosts: 2\nlinks: [{from: host0, to: host1, bandwidth: 1GB/s, "
                       "count: 1025}]\n"),
                 {"graph.yml:2", "count", "1024"});
    expect_error(study("hosts: 2\nlink: []\n"), {"graph.yml", "links"});
    expect_error(
        study("hosts: 2\nlinks: [{from: host0, to: host1, bandwidth: 1GB/s, latncy: 1us}]\n"),
        {"graph.yml:2", "latncy", "latency"});
    // Not that the bandwidth is missing, which follows from it.
    expect_error(study("hosts: 2\nlinks: [{from: host0, to: host1, bandwith: 1GB/s}]\n"),
                 {"graph.yml:2", "unknown key 'bandwith'", "did you mean 'bandwidth'"});
    expect_error(study("hots: 2\nlinks: []\n"),
                 {"graph.yml:1", "unknown key 'hots'", "did you mean 'hosts'"});
    expect_error(study("hosts: 4\nlinks: [{from: host0, to: host1, bandwidth: 1GB/s}]\n"),
                 {"no path from rank"});
    expect_error("dimensions: [{topology: custom, file: /no/such/file.yml}]\n",
                 {"/no/such/file.yml"});
}

// A slower, longer link in one row of a torus only; the other rows keep theirs.
TEST(LinkOverrideTest, OneLinkDiffers) {
    const Network network(
        "dimensions:\n"
        "  - {topology: ring, ranks: 4, bandwidth: 100GB/s, latency: 500ns}\n"
        "  - {topology: switch, ranks: 2, bandwidth: 50GB/s, latency: 1us}\n"
        "links:\n"
        "  - {from: 5, to: 6, bandwidth: 1GB/s, latency: 9us}\n"
        "  - {from: switch1.3, to: 7, latency: 3us, both: no}\n");
    EXPECT_EQ(network.link("5", "6").bandwidth.bits_per_s, 8'000'000'000U);
    EXPECT_EQ(network.link("6", "5").latency.ps, 9'000'000U);
    EXPECT_EQ(network.link("1", "2").bandwidth.bits_per_s, 800'000'000'000U);
    EXPECT_EQ(network.link("switch1.3", "7").latency.ps, 3'000'000U);
    EXPECT_EQ(network.link("7", "switch1.3").latency.ps, 1'000'000U);
    EXPECT_EQ(network.link("switch1.3", "7").bandwidth.bits_per_s, 400'000'000'000U);
}

// Case 46: a link down is gone round; with none left the pair is named.
TEST(LinkOverrideTest, ALinkDownIsGoneRound) {
    const std::string ring = "dimensions: [{topology: ring, ranks: 8, bandwidth: 1GB/s}]\n";
    Network network(ring + "links: [{from: 0, to: 1, down: true}]\n");
    EXPECT_EQ(network.shortest(0, 1).links, 7U);
    EXPECT_EQ(network.shortest(0, 4).links, 4U);  // the other way round
    EXPECT_EQ(network.shortest(1, 4).links, 3U);
    expect_error(ring + "links: [{from: 0, to: 1, down: true}, {from: 4, to: 5, down: true}]\n",
                 {"network.yml:2", "no path from rank"});
    expect_error(
        "dimensions: [{topology: switch, ranks: 4, bandwidth: 1GB/s}]\n"
        "links: [{from: 2, to: switch0.0, down: true, both: no}]\n",
        {"no path from rank 2 to rank 0", "nor for 2 other"});
}

TEST(LinkOverrideTest, ALinkDownInALeafSpineLeavesTheOthers) {
    Network network(
        "dimensions: [{topology: leaf_spine, ranks: 16, hosts_per_leaf: 4, bandwidth: 1GB/s}]\n"
        "links: [{from: leaf0, to: spine2, down: true}]\n");
    EXPECT_EQ(network.shortest(0, 4).paths, 3U);
    EXPECT_EQ(network.shortest(4, 8).paths, 4U);
}

TEST(LinkOverrideTest, LinksThatAreNotThereAreNamed) {
    const std::string ring = "dimensions: [{topology: ring, ranks: 8, bandwidth: 1GB/s}]\n";
    expect_error(ring + "links: [{from: 0, to: 2, down: true}]", {":2", "no link from 0 to 2"});
    expect_error(ring + "links: [{from: 0, to: 9}]", {":2", "no rank or switch '9'", "0 … 7"});
    expect_error(
        "dimensions: [{topology: leaf_spine, ranks: 8, bandwidth: 1GB/s}]\n"
        "links: [{from: leaf0, to: spin1}]",
        {"no rank or switch 'spin1'", "spine1"});
    expect_error(ring + "links: [{from: 0, to: 1, bandwidth: 0GB/s}]", {"above 0"});
}

TEST(RoutingTest, LinksComeBack) {
    Network network = one_dimension("topology: leaf_spine, ranks: 16, hosts_per_leaf: 4");
    for (std::uint32_t link = 0; link < network.topology().links(); ++link) {
        if (network.topology().link_ends(link).from == network.node("leaf1")) {
            network.routing().set_up(LinkId{link}, false);
        }
    }
    EXPECT_EQ(network.routing().cut_pairs(1000).size(), 15U * 4 + 4 * 12);
    for (std::uint32_t link = 0; link < network.topology().links(); ++link) {
        network.routing().set_up(LinkId{link}, true);
    }
    EXPECT_TRUE(network.routing().cut_pairs(1000).empty());
    EXPECT_EQ(network.shortest(0, 4).paths, 4U);
}

// Dimension order stays in the lowest dimension; the others may leave it: 3! orders of one link
// each.
TEST(RoutingTest, OnlyDimensionOrderKeepsTheOrder) {
    const std::string cube =
        "dimensions: [{topology: ring, ranks: 2, bandwidth: 1GB/s}, {topology: ring, ranks: 2, "
        "bandwidth: 1GB/s}, {topology: ring, ranks: 2, bandwidth: 1GB/s}]\nrouting: ";
    EXPECT_EQ(Network(cube + "dimension_order").shortest(0, 7).paths, 1U);
    EXPECT_EQ(Network(cube + "auto").shortest(0, 7).paths, 1U);
    EXPECT_EQ(Network(cube + "ecmp").shortest(0, 7).paths, 6U);
}

// The choice of 64 pairs among 8 is not far from even, differs with the seed and is repeated.
TEST(RoutingTest, HashesSpread) {
    std::vector<int> counts(8);
    Network network = one_dimension("topology: leaf_spine, ranks: 64");
    for (std::uint32_t pair = 0; pair < 4096; ++pair) {
        const std::uint64_t hash = network.routing().pair_hash(pair / 64, pair % 64);
        ++counts[Routing::hashed_choice(hash, 70, 8)];
    }
    // 512 expected, standard deviation 21: six of them.
    EXPECT_GT(*std::min_element(counts.begin(), counts.end()), 512 - 6 * 21);
    EXPECT_LT(*std::max_element(counts.begin(), counts.end()), 512 + 6 * 21);
}

}  // namespace
}  // namespace astra
