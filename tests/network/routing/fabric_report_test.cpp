// Distances, path diversity and bisection of fabrics against closed forms, recursion and brute
// force.
#include "network/routing/fabric_report.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "network/topology/fabric.h"
#include "network/topology/topology_reader.h"
#include "tests/support/experiment.h"

namespace astra {
namespace {

constexpr std::uint64_t kLink = 8'000'000'000;  // bits a second: 1 GB/s

// The report of a network of the dimensions `dimensions`, as text; also where pairs have no path.
class Reported {
  public:
    explicit Reported(const std::string& dimensions,
                      const std::string& links = "[]",
                      RoutePolicy policy = RoutePolicy::Ecmp)
        : tree_(ConfigTree::parse_text("dimensions: [" + dimensions + "]\nlinks: " + links,
                                       "network.yml")),
          topology_(read_topology(tree_.root())),
          routing_(topology_, policy, 1),
          report_(report_fabric(routing_)) {}

    const FabricReport* operator->() const { return &report_; }
    const PathReport& paths() const { return report_.paths; }
    double forth_in_links() const {
        return static_cast<double>(report_.bisection.forth.bits_per_s) / kLink;
    }
    double back_in_links() const {
        return static_cast<double>(report_.bisection.back.bits_per_s) / kLink;
    }
    // The network has full bisection.
    double ratio() const {
        return static_cast<double>(report_.bisection.forth.bits_per_s) /
               static_cast<double>(report_.bisection.full.bits_per_s);
    }
    Routing& routing() { return routing_; }

  private:
    ConfigTree tree_;
    Topology topology_;
    Routing routing_;
    FabricReport report_;
};

std::string dimension(const std::string& keys) {
    return "{bandwidth: 1GB/s, latency: 500ns, " + keys + "}";
}

std::string times(std::uint32_t count, const std::string& keys) {
    std::string text;
    for (std::uint32_t i = 0; i < count; ++i) {
        text += (i == 0 ? "" : ", ") + dimension(keys);
    }
    return text;
}

// A ring of n: the farthest rank is floor(n / 2) links away. The distances of a rank add up to
// 2·(1 + … + (n-1)/2) = (n² - 1) / 4 for odd n and n² / 4 for even n. Two halves touch at two
// places; the first half of floor(n / 2) ranks injects 2 links a rank.
TEST(FabricReportTest, Ring) {
    for (const std::uint32_t n : {3U, 4U, 5U, 8U, 9U}) {
        const Reported ring(dimension("topology: ring, ranks: " + std::to_string(n)));
        EXPECT_EQ(ring->ranks, n);
        EXPECT_EQ(ring->links, 2 * n);
        EXPECT_EQ(ring.paths().pairs, std::uint64_t{n} * (n - 1));
        EXPECT_EQ(ring.paths().diameter_links, n / 2);
        EXPECT_DOUBLE_EQ(ring.paths().mean_links, static_cast<double>(n * n / 4) / (n - 1));
        EXPECT_EQ(ring.paths().longest.ps, n / 2 * std::uint64_t{500'000});
        EXPECT_EQ(ring.forth_in_links(), 2);
        EXPECT_EQ(ring.back_in_links(), 2);
        EXPECT_DOUBLE_EQ(ring.ratio(), 2.0 / (2 * (n / 2)));
    }
}

// One direction: n - 1 links to the rank behind, n / 2 on average; one link in each direction.
TEST(FabricReportTest, RingOfOneDirection) {
    const Reported ring(dimension("topology: ring, ranks: 8, direction: clockwise"));
    EXPECT_EQ(ring.paths().diameter_links, 7U);
    EXPECT_DOUBLE_EQ(ring.paths().mean_links, 4);
    EXPECT_EQ(ring.forth_in_links(), 1);
    EXPECT_EQ(ring.back_in_links(), 1);
}

// A mesh of 5 x 4: (5 - 1) + (4 - 1) links; the halves, two rows of five each, touch in 5 links.
// From corner to corner there are C(7, 3) = 35 paths.
TEST(FabricReportTest, Mesh) {
    const Reported mesh(dimension("topology: line, ranks: 5") + ", " +
                        dimension("topology: line, ranks: 4"));
    EXPECT_EQ(mesh.paths().diameter_links, 7U);
    EXPECT_EQ(mesh.forth_in_links(), 5);
    EXPECT_EQ(mesh.paths().most_paths, 35U);
}

// k-ary n-cube (Dally, IEEE ToC 1990): n·k/2 links; 2·k^(n-1) links between the halves. In a ring
// of 4 the distances are 0, 1, 2, 1, one on average, so n·64/63 without the rank itself. The
// farthest rank is 2 links away in each dimension, in any order: 6! / (2!·2!·2!) = 90 paths (a ring
// goes clockwise on a tie), and one in dimension order.
TEST(FabricReportTest, Torus) {
    const Reported torus(times(3, "topology: ring, ranks: 4"));
    EXPECT_EQ(torus.paths().diameter_links, 6U);
    EXPECT_DOUBLE_EQ(torus.paths().mean_links, 3 * 64.0 / 63);
    EXPECT_EQ(torus.forth_in_links(), 2 * 16);
    EXPECT_EQ(torus.paths().fewest_paths, 1U);
    EXPECT_EQ(torus.paths().most_paths, 90U);
    const Reported ordered(times(3, "topology: ring, ranks: 4"), "[]", RoutePolicy::DimensionOrder);
    EXPECT_EQ(ordered.paths().most_paths, 1U);
    EXPECT_DOUBLE_EQ(ordered.paths().mean_links, 3 * 64.0 / 63);
    EXPECT_EQ(ordered.paths().pairs_of_one_first_link, 64U * 63);
}

// d = 5: C(5, k) ranks are k links away, by k! paths: (5·1 + 10·2 + 10·6 + 5·24 + 1·120) / 31 on
// average. Half of the ranks have their link of the last dimension between the halves. All paths
// begin with one link for the 5 neighbours alone.
TEST(FabricReportTest, Hypercube) {
    const Reported cube(times(5, "topology: ring, ranks: 2"));
    EXPECT_EQ(cube.paths().diameter_links, 5U);
    EXPECT_DOUBLE_EQ(cube.paths().mean_links, 5 * 16.0 / 31);
    EXPECT_EQ(cube.forth_in_links(), 16);
    EXPECT_DOUBLE_EQ(cube.ratio(), 1.0 / 5);
    EXPECT_EQ(cube.paths().most_paths, 120U);
    EXPECT_DOUBLE_EQ(cube.paths().mean_paths, 325.0 / 31);
    EXPECT_EQ(cube.paths().pairs_of_one_first_link, 32U * 5);
    EXPECT_EQ(cube.paths().pairs_of_one_last_link, 32U * 5);
}

// n²/4 links join the halves; for n = 7 it is 3·4.
TEST(FabricReportTest, FullyConnected) {
    const Reported six(dimension("topology: fully_connected, ranks: 6"));
    EXPECT_EQ(six.paths().diameter_links, 1U);
    EXPECT_EQ(six.forth_in_links(), 9);
    EXPECT_EQ(six.paths().most_paths, 1U);
    const Reported seven(dimension("topology: fully_connected, ranks: 7"));
    EXPECT_EQ(seven.forth_in_links(), 12);
}

// One link a rank up and one down: full bisection, n / 2 links.
TEST(FabricReportTest, Switch) {
    const Reported network(dimension("topology: switch, ranks: 8, switch_latency: 100ns"));
    EXPECT_EQ(network->switches, 1U);
    EXPECT_EQ(network.paths().diameter_links, 2U);
    EXPECT_EQ(network.paths().longest.ps, 500'000U + 600'000);
    EXPECT_EQ(network.forth_in_links(), 4);
    EXPECT_DOUBLE_EQ(network.ratio(), 1);
    ASSERT_EQ(network->classes.size(), 2U);
    EXPECT_EQ(network->classes[0].links, 8U);
    EXPECT_EQ(network->classes[1].properties.latency.ps, 600'000U);
}

// 64 hosts, 8 a leaf. To 7 hosts there is one path of 2 links, to 56 one a spine, of 4 links: wire
// 4·500 ns and three switches of 300 ns. Four leaves with 8 / oversubscription uplinks each are a
// half.
TEST(FabricReportTest, LeafSpine) {
    for (const std::uint32_t oversubscription : {1U, 2U}) {
        const Reported network(
            dimension("topology: leaf_spine, ranks: 64, hosts_per_leaf: 8, switch_latency: 300ns, "
                      "oversubscription: " +
                      std::to_string(oversubscription)));
        const std::uint32_t spines = 8 / oversubscription;
        EXPECT_EQ(network->switches, 8 + spines);
        EXPECT_EQ(network.paths().diameter_links, 4U);
        EXPECT_DOUBLE_EQ(network.paths().mean_links, (7 * 2 + 56 * 4) / 63.0);
        EXPECT_EQ(network.paths().longest.ps, 4U * 500'000 + 3 * 300'000);
        EXPECT_EQ(network.paths().fewest_paths, 1U);
        EXPECT_EQ(network.paths().most_paths, spines);
        EXPECT_DOUBLE_EQ(network.paths().mean_paths, (7 + 56 * spines) / 63.0);
        EXPECT_EQ(network.paths().pairs_of_one_first_link, 64U * 63);
        EXPECT_EQ(network.paths().pairs_of_one_last_link, 64U * 63);
        EXPECT_EQ(network.forth_in_links(), 4 * spines);
        EXPECT_DOUBLE_EQ(network.ratio(), 1.0 / oversubscription);
    }
}

// A NIC on each of two planes: no pair depends on one link.
TEST(FabricReportTest, PlanesShareNoLink) {
    const Reported network(dimension("topology: leaf_spine, ranks: 16, planes: 2"));
    EXPECT_EQ(network.paths().pairs_of_one_first_link, 0U);
    EXPECT_EQ(network.paths().pairs_of_one_last_link, 0U);
    EXPECT_EQ(network.paths().fewest_paths, 2U);
    EXPECT_DOUBLE_EQ(network.ratio(), 1);
}

// k = 4: 4 paths between pods, 2 within a pod, 1 on a leaf; full bisection.
TEST(FabricReportTest, FatTree) {
    const Reported tree(
        dimension("topology: fat_tree, ranks: 16, hosts_per_leaf: 2, leaves_per_pod: 2"));
    EXPECT_EQ(tree.paths().diameter_links, 6U);
    EXPECT_EQ(tree.paths().most_paths, 4U);
    EXPECT_DOUBLE_EQ(tree.paths().mean_paths, (1 * 1 + 2 * 2 + 12 * 4) / 15.0);
    EXPECT_EQ(tree.forth_in_links(), 8);
    EXPECT_DOUBLE_EQ(tree.ratio(), 1);
}

// A ring of 5 without the links between 0 and 1 is a line from 1 to 0: 4 links; the halves {0, 1}
// and {2, 3, 4} touch at 1-2 and 0-4 as before, and have lost 2 of the 4 links that are injected.
TEST(FabricReportTest, LinksThatAreDown) {
    const Reported ring(dimension("topology: ring, ranks: 5"), "[{from: 0, to: 1, down: true}]");
    EXPECT_EQ(ring->links, 10U);
    EXPECT_EQ(ring->down_links, 2U);
    EXPECT_EQ(ring->classes.at(0).down, 2U);
    EXPECT_EQ(ring.paths().diameter_links, 4U);
    EXPECT_EQ(ring.forth_in_links(), 2);
    EXPECT_DOUBLE_EQ(ring.ratio(), 1);
}

// A line of 4 cut in its middle: 2·2·2 of the 12 pairs are cut, the others are neighbours.
TEST(FabricReportTest, PairsWithoutAPath) {
    const Reported line(dimension("topology: line, ranks: 4"), "[{from: 1, to: 2, down: true}]");
    EXPECT_EQ(line.paths().pairs, 4U);
    EXPECT_EQ(line.paths().pairs_cut, 8U);
    EXPECT_EQ(line.paths().diameter_links, 1U);
    EXPECT_EQ(line.forth_in_links(), 0);
}

// One direction of the middle link: the second half still reaches the first.
TEST(FabricReportTest, BisectionHasTwoDirections) {
    const Reported line(dimension("topology: line, ranks: 4"),
                        "[{from: 1, to: 2, down: true, both: false}]");
    EXPECT_EQ(line.forth_in_links(), 0);
    EXPECT_EQ(line.back_in_links(), 1);
    EXPECT_EQ(line.paths().pairs_cut, 4U);
}

TEST(FabricReportTest, OneRank) {
    const Reported alone(dimension("topology: switch, ranks: 1"));
    EXPECT_EQ(alone.paths().pairs, 0U);
    EXPECT_EQ(alone->bisection.full.bits_per_s, 0U);
}

// Above 2048 ranks 2048² / 4096 = 1024 destinations are looked at; in a ring all are alike.
TEST(FabricReportTest, LargeFabricsAreSampled) {
    const Reported ring(dimension("topology: ring, ranks: 4096"));
    EXPECT_EQ(ring.paths().destinations, 1024U);
    EXPECT_EQ(ring.paths().pairs, 1024U * 4095);
    EXPECT_EQ(ring.paths().diameter_links, 2048U);
    EXPECT_DOUBLE_EQ(ring.paths().mean_links, 2048.0 * 2048 / 4095);
}

struct Shortest {
    std::uint32_t links = 0;
    std::uint64_t paths = 0;
    std::uint64_t latency_ps = 0;
};

Shortest walk(Routing& routing, std::uint32_t node, std::uint32_t destination) {
    if (node == destination) {
        return {0, 1, 0};
    }
    Shortest sum;
    const auto next = routing.next_links(node, destination);
    for (const std::uint32_t link : std::vector<std::uint32_t>(next.begin(), next.end())) {
        const Topology& topology = routing.topology();
        const Shortest rest = walk(routing, topology.link_ends(link).to, destination);
        sum = {rest.links + 1,
               sum.paths + rest.paths,
               std::max(sum.latency_ps, rest.latency_ps + topology.link(link).latency.ps)};
    }
    return sum;
}

// The sums against a walk along every path of every pair.
TEST(FabricReportTest, AgreesWithWalkingEveryPath) {
    for (const std::string keys :
         {"topology: dragonfly, ranks: 72, global_latency: 2us, switch_latency: 70ns",
          "topology: rail_optimised, ranks: 32, nodes_per_leaf: 2, uplink_latency: 3us",
          "topology: rail_optimised, ranks: 32, spines: 0, domain_latency: 100ns",
          "topology: leaf_spine, ranks: 13, hosts_per_leaf: 4, links_per_spine: 3"}) {
        Reported network(dimension(keys) + ", " + dimension("topology: ring, ranks: 3"));
        PathReport sum;
        double links = 0;
        double paths = 0;
        for (std::uint32_t to = 0; to < network->ranks; ++to) {
            for (std::uint32_t from = 0; from < network->ranks; ++from) {
                if (from == to) {
                    continue;
                }
                const Shortest path = walk(network.routing(), from, to);
                links += path.links;
                paths += static_cast<double>(path.paths);
                sum.most_paths = std::max(sum.most_paths, path.paths);
                sum.diameter_links = std::max(sum.diameter_links, path.links);
                sum.longest.ps = std::max(sum.longest.ps, path.latency_ps);
                ++sum.pairs;
            }
        }
        EXPECT_EQ(network.paths().pairs, sum.pairs) << keys;
        EXPECT_EQ(network.paths().most_paths, sum.most_paths) << keys;
        EXPECT_EQ(network.paths().diameter_links, sum.diameter_links) << keys;
        EXPECT_EQ(network.paths().longest.ps, sum.longest.ps) << keys;
        EXPECT_DOUBLE_EQ(network.paths().mean_links, links / static_cast<double>(sum.pairs));
        EXPECT_DOUBLE_EQ(network.paths().mean_paths, paths / static_cast<double>(sum.pairs));
    }
}

// The only link of s leads to b, which does not forward: a reaches b and no further. b and c are
// joined; nothing leads to a.
TEST(FabricReportTest, DeadEndsAreNoWays) {
    const test::ScratchFolder folder;
    std::ofstream(folder.file("graph.yml"))
        << "hosts: [a, b, c]\nswitches: [s, t]\nbandwidth: 1GB/s\n"
           "links: [{from: a, to: s, direction: one}, {from: s, to: b, direction: one}, "
           "{from: b, to: t}, {from: c, to: t}]\n";
    const Reported network("{topology: custom, file: " + folder.file("graph.yml") + "}");
    EXPECT_EQ(network.paths().pairs, 3U);
    EXPECT_EQ(network.paths().pairs_cut, 3U);
    EXPECT_EQ(network.paths().diameter_links, 2U);
}

// a has two links to s and one back, b and c one in each direction: 2 of the 6 pairs begin with one
// of two links, and all end with one.
TEST(FabricReportTest, FirstAndLastLinksAreToldApart) {
    const test::ScratchFolder folder;
    std::ofstream(folder.file("graph.yml"))
        << "hosts: [a, b, c]\nswitches: [s]\nbandwidth: 1GB/s\n"
           "links: [{from: a, to: s}, {from: a, to: s, direction: one}, {from: b, to: s}, "
           "{from: c, to: s}]\n";
    const Reported network("{topology: custom, file: " + folder.file("graph.yml") + "}");
    EXPECT_EQ(network.paths().pairs_of_one_first_link, 4U);
    EXPECT_EQ(network.paths().pairs_of_one_last_link, 6U);
}

// Random graphs of 5 hosts and 6 switches: the maximum flow is the least capacity of the 2^6 cuts
// that have the first 2 hosts on one side and the others on the other (Ford and Fulkerson, 1956).
TEST(FabricReportTest, BisectionIsTheSmallestCut) {
    constexpr std::uint32_t hosts = 5;
    constexpr std::uint32_t switches = 6;
    const ConfigTree no_keys = ConfigTree::empty_map("test");
    std::mt19937 random(7);
    int positive = 0;
    for (int round = 0; round < 200; ++round) {
        FabricBuilder builder(hosts, no_keys.root());
        builder.add_switches("s", switches);
        std::vector<FabricLink> links;
        for (std::uint32_t i = 0; i < 24; ++i) {
            const auto from = static_cast<std::uint32_t>(random() % (hosts + switches));
            const auto to = static_cast<std::uint32_t>(random() % (hosts + switches));
            if (from != to) {
                links.push_back({{from, to}, {{1 + random() % 1000}, {}}});
                builder.link(from, to, links.back().properties);
            }
        }
        std::vector<Topology::PhysicalDimension> dimensions;
        dimensions.push_back({"custom", builder.build(), ""});
        const Topology topology(std::move(dimensions));
        const BisectionReport report = report_bisection(Routing(topology, RoutePolicy::Ecmp, 1));
        std::uint64_t forth = ~std::uint64_t{0};
        std::uint64_t back = forth;
        for (std::uint32_t side = 0; side < 1U << switches; ++side) {
            const auto first = [&](std::uint32_t node) {
                return node < hosts ? node < 2 : ((side >> (node - hosts)) & 1) == 1;
            };
            std::uint64_t out = 0;
            std::uint64_t in = 0;
            for (const FabricLink& link : links) {
                const std::uint64_t capacity = link.properties.bandwidth.bits_per_s;
                out += first(link.ends.from) && !first(link.ends.to) ? capacity : 0;
                in += !first(link.ends.from) && first(link.ends.to) ? capacity : 0;
            }
            forth = std::min(forth, out);
            back = std::min(back, in);
        }
        EXPECT_EQ(report.forth.bits_per_s, forth) << "round " << round;
        EXPECT_EQ(report.back.bits_per_s, back) << "round " << round;
        positive += forth > 0 ? 1 : 0;
    }
    EXPECT_GT(positive, 50);
}

// 1024 links of the most that a bandwidth can be add up to more than 64 bits.
TEST(FabricReportTest, HugeBandwidthsSaturate) {
    const Reported network("{topology: fully_connected, ranks: 64, bandwidth: 2000000TB/s}");
    EXPECT_EQ(network->bisection.forth.bits_per_s, ~std::uint64_t{0});
    EXPECT_EQ(network->bisection.full.bits_per_s, ~std::uint64_t{0});
}

}  // namespace
}  // namespace astra
