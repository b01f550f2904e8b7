// Paths by the weights of a graph file's links.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "network/routing/fabric_report.h"
#include "network/routing/routing.h"
#include "network/topology/topology_reader.h"
#include "tests/support/experiment.h"

namespace astra {
namespace {

constexpr std::uint64_t kNever = 1'000'000'000;

class Weighted {
  public:
    explicit Weighted(const std::string& graph, const std::string& links = "[]")
        : tree_(ConfigTree::parse_text(
              "dimensions: [{topology: custom, file: " + folder_.write("graph.yml", graph) +
                  "}]\nlinks: " + links,
              "network.yml")),
          topology_(read_topology(tree_.root())),
          routing_(topology_, RoutePolicy::Ecmp, 1) {}

    const Topology& topology() const { return topology_; }
    Routing& routing() { return routing_; }

    // All sums over links that are up, by Floyd and Warshall; only what forwards is passed through.
    std::vector<std::vector<std::uint64_t>> distances() const {
        const std::uint32_t nodes = topology_.nodes();
        std::vector<std::vector<std::uint64_t>> all(nodes, std::vector(nodes, kNever));
        for (std::uint32_t node = 0; node < nodes; ++node) {
            all[node][node] = 0;
        }
        for (std::uint32_t link = 0; link < topology_.links(); ++link) {
            const LinkEnds ends = topology_.link_ends(link);
            if (routing_.is_up(link)) {
                all[ends.from][ends.to] =
                    std::min<std::uint64_t>(all[ends.from][ends.to], topology_.link_weight(link));
            }
        }
        for (std::uint32_t by = 0; by < nodes; ++by) {
            for (std::uint32_t from = 0; from < nodes && topology_.forwards(by); ++from) {
                for (std::uint32_t to = 0; to < nodes; ++to) {
                    all[from][to] = std::min(all[from][to], all[from][by] + all[by][to]);
                }
            }
        }
        return all;
    }

  private:
    test::ScratchFolder folder_;
    ConfigTree tree_;
    Topology topology_;
    Routing routing_;
};

// Seven hosts and nine switches in a circle, with 16 links more; every weight from 1 to 5.
std::string random_graph(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string text = "hosts: 7\nswitches: 9\nbandwidth: 1GB/s\nlinks:\n";
    const auto add = [&](const std::string& from, std::uint64_t to) {
        text += fmt::format("  - {{from: {}, to: switch{}, weight: {}, direction: {}}}\n",
                            from,
                            to,
                            1 + random() % 5,
                            from[0] == 's' && random() % 4 == 0 ? "one" : "both");
    };
    for (std::uint64_t host = 0; host < 7; ++host) {
        add("host" + std::to_string(host), random() % 9);
    }
    for (std::uint64_t i = 0; i < 9; ++i) {
        text += fmt::format(
            "  - {{from: switch{}, to: switch{}, weight: {}}}\n", i, (i + 1) % 9, 1 + random() % 5);
    }
    for (int i = 0; i < 16; ++i) {
        const std::uint64_t from = random() % 9;
        add("switch" + std::to_string(from), (from + 1 + random() % 8) % 9);
    }
    return text;
}

// The next links of a node are those, and all of those, by which the sum of weights is the least
// that there is; also with a link down, when the whole graph is routed.
TEST(WeightedPaths, HaveTheLeastSumOfWeights) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Weighted network(random_graph(seed),
                         seed % 2 == 0 ? "[]" : "[{from: switch3, to: switch4, down: true}]");
        const auto all = network.distances();
        const Topology& topology = network.topology();
        for (std::uint32_t to = 0; to < topology.ranks(); ++to) {
            for (std::uint32_t node = 0; node < topology.nodes(); ++node) {
                if (node == to) {
                    continue;
                }
                ASSERT_LT(all[node][to], kNever);
                std::vector<std::uint32_t> expected;
                for (std::uint32_t link = 0; link < topology.links(); ++link) {
                    const LinkEnds ends = topology.link_ends(link);
                    if (ends.from == node && network.routing().is_up(link) &&
                        (ends.to == to || topology.forwards(ends.to)) &&
                        topology.link_weight(link) + all[ends.to][to] == all[node][to]) {
                        expected.push_back(link);
                    }
                }
                const auto next = network.routing().next_links(node, to);
                EXPECT_EQ(std::vector<std::uint32_t>(next.begin(), next.end()), expected)
                    << "seed " << seed << ", from " << node << " to " << to;
            }
        }
    }
}

// Two links of weight 1 weigh as much as one of 2: two paths from a to b, of three and of four
// links. A weight of 1 for all leaves the shorter one alone.
TEST(WeightedPaths, OfEqualWeightMayDifferInLinks) {
    const std::string graph =
        "hosts: [a, b]\nswitches: [s, t, u]\nbandwidth: 1GB/s\nlatency: 1us\nlinks: [{from: a, to: "
        "s}, {from: b, to: u}, {from: s, to: t}, {from: t, to: u}, {from: s, to: u, weight: 2}]\n";
    Weighted network(graph);
    const PathReport report = report_paths(network.routing(), 2);
    EXPECT_EQ(report.most_paths, 2U);
    EXPECT_EQ(report.fewest_paths, 2U);
    EXPECT_EQ(report.diameter_links, 4U);
    EXPECT_EQ(report.longest.ps, 4'000'000U);
    Weighted plain(
        "hosts: [a, b]\nswitches: [s, t, u]\nbandwidth: 1GB/s\nlinks: [{from: a, to: s}, "
        "{from: b, to: u}, {from: s, to: t}, {from: t, to: u}, {from: s, to: u}]\n");
    EXPECT_EQ(report_paths(plain.routing(), 2).most_paths, 1U);
    EXPECT_EQ(report_paths(plain.routing(), 2).diameter_links, 3U);
}

}  // namespace
}  // namespace astra
