// Paths of equal length and very different bandwidth are found, and the nearest is told.
#include "network/routing/uneven_ties.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "network/topology/topology_reader.h"
#include "tests/support/experiment.h"

namespace astra {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> ties(const std::string& graph) {
    const test::ScratchFolder folder;
    const ConfigTree tree = ConfigTree::parse_text(
        "dimensions: [{topology: custom, file: " + folder.write("graph.yml", graph) + "}]",
        "network.yml");
    return describe_uneven_ties(read_topology(tree.root()));
}

// From a to b over t, or over u with another bandwidth and weight.
std::string two_ways(const std::string& over_u) {
    return "hosts: [a, b]\nswitches: [s, t, u, v]\nbandwidth: 100Gbps\nlinks:\n"
           "  - {from: a, to: s}\n  - {from: b, to: v}\n"
           "  - {from: s, to: t}\n  - {from: t, to: v}\n"
           "  - {from: s, to: u}\n  - {from: u, to: v, " +
           over_u + "}\n";
}

TEST(UnevenTies, AreToldFromTwiceTheBandwidthOn) {
    EXPECT_THAT(
        ties(two_ways("bandwidth: 25Gbps")),
        ElementsAre(HasSubstr("network.dimensions.0: some shortest paths are very different "
                              "and share traffic alike: from 1 to 0 those by v -> t carry "
                              "12.5 GB/s, those by v -> u 3.125 GB/s; a `weight`")));
    EXPECT_THAT(ties(two_ways("bandwidth: 50Gbps")), ElementsAre(HasSubstr("v -> u 6.25 GB/s")));
    EXPECT_THAT(ties(two_ways("bandwidth: 51Gbps")), IsEmpty());
    EXPECT_THAT(ties(two_ways("latency: 1us")), IsEmpty());
}

TEST(UnevenTies, AWeightSettlesThem) {
    EXPECT_THAT(ties(two_ways("bandwidth: 25Gbps, weight: 2")), IsEmpty());
}

// A narrow link after the paths have met again is narrow for both.
TEST(UnevenTies, WhatPathsShareMakesNoDifference) {
    std::string graph = two_ways("bandwidth: 25Gbps");
    graph.replace(graph.find("{from: b, to: v"), 15, "{from: b, to: v, bandwidth: 25Gbps");
    EXPECT_THAT(ties(graph), ElementsAre(HasSubstr("from 1 to 0 those by v -> t")));
    graph.replace(graph.find("{from: a, to: s"), 15, "{from: a, to: s, bandwidth: 25Gbps");
    EXPECT_THAT(ties(graph), IsEmpty());
}

// Of two such ties that between c and d, over one switch each way.
TEST(UnevenTies, TheNearestIsTold) {
    std::string graph = two_ways("bandwidth: 25Gbps");
    graph.replace(graph.find("[a, b]"), 6, "[a, b, c, d]");
    graph.replace(graph.find("v]"), 2, "v, w]");
    EXPECT_THAT(ties(graph + "  - {from: c, to: v}\n  - {from: d, to: v}\n"
                             "  - {from: c, to: w, bandwidth: 1Gbps}\n"
                             "  - {from: d, to: w, bandwidth: 1Gbps}\n"),
                ElementsAre(HasSubstr("from 3 to 2 those by 3 -> v carry 12.5 GB/s, those by 3 -> "
                                      "w 125 MB/s")));
}

// Those of a kind that astra makes itself have the bandwidths that the study gives them.
TEST(UnevenTies, AreOfGraphFilesAlone) {
    const ConfigTree tree = ConfigTree::parse_text(
        "dimensions: [{topology: ring, ranks: 4, bandwidth: 1GB/s}]", "network.yml");
    EXPECT_THAT(describe_uneven_ties(read_topology(tree.root())), IsEmpty());
}

}  // namespace
}  // namespace astra
