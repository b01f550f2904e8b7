// Topologies read from configuration, and what is refused.
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"
#include "network/routing/routing.h"
#include "network/topology/topology_reader.h"

namespace astra {
namespace {

Topology read(const std::string& text) {
    const ConfigTree tree = ConfigTree::parse_text(text, "network.yaml");
    return read_topology(tree.root());
}

// The message of the error, or "" if there is none.
std::string error_of(const std::string& text) {
    try {
        read(text);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

void expect_error(const std::string& text, const std::vector<std::string>& parts) {
    const std::string error = error_of(text);
    EXPECT_NE(error, "") << text;
    for (const std::string& part : parts) {
        EXPECT_NE(error.find(part), std::string::npos) << "'" << part << "' in: " << error;
    }
}

TEST(TopologyConfigTest, ReadsDimensions) {
    const Topology topology = read(
        "dimensions:\n"
        "  - {topology: ring, ranks: 4, bandwidth: 100GB/s, latency: 100ns}\n"
        "  - {topology: switch, ranks: 3, bandwidth: 200Gbps, latency: 1us}\n"
        "  - {topology: fully_connected, ranks: 2, bandwidth: 1GiB/s}\n");
    ASSERT_EQ(topology.dimensions(), 3U);
    EXPECT_EQ(topology.ranks(), 24U);
    EXPECT_EQ(topology.describe().find("ring") != std::string::npos, true);
    EXPECT_EQ(topology.link(topology.first_link(0)).bandwidth.bits_per_s, 800'000'000'000U);
    EXPECT_EQ(topology.link(topology.first_link(0)).latency.ps, 100'000U);
    EXPECT_EQ(topology.describe().find("switch") != std::string::npos, true);
    EXPECT_EQ(topology.link(topology.first_link(1)).bandwidth.bits_per_s, 200'000'000'000U);
    EXPECT_EQ(topology.link(topology.first_link(1)).latency.ps, 1'000'000U);
    EXPECT_EQ(topology.describe().find("fully_connected") != std::string::npos, true);
    EXPECT_EQ(topology.link(topology.first_link(2)).bandwidth.bits_per_s, std::uint64_t{8} << 30);
    EXPECT_EQ(topology.link(topology.first_link(2)).latency.ps, 0U);
    EXPECT_FALSE(topology.describe().empty());
}

TEST(TopologyConfigTest, AnUnknownTopologyNamesTheNearest) {
    expect_error("dimensions:\n  - {topology: rings, ranks: 4, bandwidth: 1GB/s}\n",
                 {"network.yaml:2", "topology", "rings", "'ring'"});
    expect_error("dimensions: [{topology: swich, ranks: 4, bandwidth: 1GB/s}]",
                 {"swich", "'switch'"});
    expect_error("dimensions: [{topology: moebius, ranks: 4, bandwidth: 1GB/s}]",
                 {"moebius", "ring", "switch", "fully_connected"});
}

TEST(TopologyConfigTest, MissingKeysAreNamed) {
    expect_error("{}", {"dimensions"});
    expect_error("dimensions: [{topology: ring, bandwidth: 1GB/s}]", {"ranks"});
    expect_error("dimensions: [{topology: ring, ranks: 4}]", {"bandwidth"});
    expect_error("dimensions: [{ranks: 4, bandwidth: 1GB/s}]", {"topology"});
    expect_error("dimensions: []", {"at least one dimension"});
}

TEST(TopologyConfigTest, NumbersOutOfRangeAreRefused) {
    expect_error("dimensions: [{topology: ring, ranks: 0, bandwidth: 1GB/s}]", {"ranks"});
    expect_error("dimensions: [{topology: ring, ranks: -4, bandwidth: 1GB/s}]", {"ranks"});
    expect_error("dimensions: [{topology: ring, ranks: 4, bandwidth: 0}]", {"bandwidth"});
    expect_error("dimensions: [{topology: ring, ranks: 4, bandwidth: 0GB/s}]", {"above 0"});
    expect_error("dimensions: [{topology: ring, ranks: 4, bandwidth: 100}]", {"bandwidth"});
}

// A kind that takes powers of two only: a ring otherwise.
const DimensionInfo kPowersOfTwo = {
    .name = "powers_of_two",
    .summary = "a ring of a power of two",
    .build = [](const DimensionKeys& keys) { return dimension_kinds().find("ring")->build(keys); },
    .refusal =
        [](std::uint32_t ports) {
            return std::has_single_bit(ports) ? std::string()
                                              : std::to_string(ports) + " is no power of two";
        }};

std::uint32_t ports_of(const std::string& item) {
    const ConfigTree tree = ConfigTree::parse_text(item, "network.yaml");
    return read_dimension(tree.root(), kPowersOfTwo).dimension->ports();
}

TEST(TopologyConfigTest, AKindMayRefuseASize) {
    EXPECT_EQ(ports_of("ranks: 1\nbandwidth: 1GB/s"), 1U);
    EXPECT_EQ(ports_of("ranks: 64\nbandwidth: 1GB/s"), 64U);
    for (const std::string ranks : {"3", "12", "65535"}) {
        std::string error;
        try {
            ports_of("bandwidth: 1GB/s\nranks: " + ranks);
        } catch (const ConfigError& refused) {
            error = refused.what();
        }
        EXPECT_EQ(error, "network.yaml:2:8: ranks: " + ranks + " is no power of two");
    }
    EXPECT_TRUE(kPowersOfTwo.takes(8));
    EXPECT_FALSE(kPowersOfTwo.takes(9));
}

// 2^20 ranks and 2^24 links are the most: 2^10 · (2^10 + 1) ranks; 16384 · 16383 = 2^28 - 2^14
// links.
TEST(TopologyConfigTest, TooLargeFabricsAreRefused) {
    expect_error("dimensions: [{topology: ring, ranks: 1048577, bandwidth: 1GB/s}]", {"ranks"});
    expect_error(
        "dimensions:\n"
        "  - {topology: ring, ranks: 1024, bandwidth: 1GB/s}\n"
        "  - {topology: ring, ranks: 1025, bandwidth: 1GB/s}\n",
        {"network.yaml:3", "1048576"});
    expect_error("dimensions: [{topology: fully_connected, ranks: 16384, bandwidth: 1GB/s}]",
                 {"268419072 links", "16777216"});
}

TEST(TopologyConfigTest, TheLargestFabricIsBuilt) {
    const Topology topology =
        read("dimensions: [{topology: switch, ranks: 1048576, bandwidth: 1GB/s}]");
    EXPECT_EQ(topology.ranks(), 1U << 20);
    EXPECT_EQ(topology.links(), 1U << 21);
    Routing routing(topology, RoutePolicy::DimensionOrder, 1);
    const std::uint32_t last = topology.ranks() - 1;
    EXPECT_EQ(routing.next_hop(last, last, 0).end, topology.ranks());
    EXPECT_EQ(routing.next_hop(topology.ranks(), topology.ranks(), last).end, last);
}

}  // namespace
}  // namespace astra
