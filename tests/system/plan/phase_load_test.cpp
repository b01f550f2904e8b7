// The work that a phase is for the busiest link of its dimension, and its latency.
#include "system/plan/phase_load.h"

#include <numeric>

#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "network/topology/topology_reader.h"
#include "system/algorithms/algorithm.h"
#include "system/tuning/algorithm_choice.h"
#include "tests/network/test_network.h"

namespace astra {
namespace {

constexpr Bandwidth kRate{8'000'000'000'000};  // 1 ps a byte
constexpr std::uint64_t kLatency = 500;
constexpr Duration kDelay{10};
constexpr Bytes kSize{1 << 20};

PhaseLoad load_on(const Topology& topology,
                  const std::string& algorithm,
                  CollectiveKind kind,
                  std::uint32_t members) {
    const AlgorithmChoice choice = parse_algorithm(algorithm);
    ProgramShape shape;
    shape.kind = kind;
    shape.members = members;
    shape.parameter = choice.parameter;
    std::vector<std::uint32_t> ranks(members);
    std::iota(ranks.begin(), ranks.end(), 0U);
    Routing routing(topology, RoutePolicy::DimensionOrder, 1);
    return phase_load(make_program(*choice.algorithm, shape), ranks, routing, kDelay);
}

PhaseLoad load(const std::string& algorithm,
               CollectiveKind kind,
               const std::string& topology,
               std::uint32_t members) {
    // The second dimension is none of the phase's business.
    return load_on(build({{topology, members, kRate, kLatency}, {"ring", 3, kRate, 7}}),
                   algorithm,
                   kind,
                   members);
}

constexpr auto kReduceScatter = CollectiveKind::ReduceScatter;
constexpr auto kAllReduce = CollectiveKind::AllReduce;

// Every link of one direction carries n-1 blocks of S/n, in n-1 steps.
TEST(PhaseLoadTest, RingUsesOneDirection) {
    const PhaseLoad ring = load("ring", kReduceScatter, "ring", 8);
    EXPECT_EQ(ring.busy(kSize).ps, kSize.count / 8 * 7);
    EXPECT_EQ(ring.latency.ps, 7 * (kLatency + kDelay.ps));
    EXPECT_EQ(load("ring", kAllReduce, "ring", 8).busy(kSize).ps, 2 * ring.busy(kSize).ps);
    EXPECT_EQ(load("bidirectionalRing", kReduceScatter, "ring", 8).busy(kSize).ps,
              kSize.count / 16 * 7);
}

// A block over a link that nothing else uses; n-1 of them over the one link to a switch, and as
// many back from it. All are sent at once: one latency, of two links through the switch.
TEST(PhaseLoadTest, DirectOverOneLinkOrMany) {
    const PhaseLoad links = load("direct", kReduceScatter, "fully_connected", 8);
    EXPECT_EQ(links.busy(kSize).ps, kSize.count / 8);
    EXPECT_EQ(links.latency.ps, kLatency + kDelay.ps);
    const PhaseLoad port = load("direct", kReduceScatter, "switch", 8);
    EXPECT_EQ(port.busy(kSize).ps, kSize.count / 8 * 7);
    EXPECT_EQ(port.latency.ps, 2 * kLatency + kDelay.ps);
}

// On a ring of four a member reaches the next (one link), the one after it (two, clockwise) and the
// one before (in the other direction): a clockwise link carries 1 + 2 blocks. The longest path has
// two links.
TEST(PhaseLoadTest, MessagesThatCrossManyLinksLoadThemAll) {
    const PhaseLoad direct = load("direct", kReduceScatter, "ring", 4);
    EXPECT_EQ(direct.busy(kSize).ps, kSize.count / 4 * 3);
    EXPECT_EQ(direct.latency.ps, 2 * kLatency + kDelay.ps);
}

// An absolute program, in which the members differ: the root of a binomial tree over four of them
// sends the whole to two others.
TEST(PhaseLoadTest, TheBusiestMemberCounts) {
    const PhaseLoad tree = load("binomial", CollectiveKind::Broadcast, "switch", 4);
    EXPECT_EQ(tree.busy(kSize).ps, 2 * kSize.count);
}

TEST(PhaseLoadTest, TheSlowestLinkCounts) {
    const ConfigTree study = ConfigTree::parse_text(
        "{dimensions: [{topology: ring, ranks: 4, bandwidth: 1000GB/s}],"
        " links: [{from: 1, to: 2, bandwidth: 250GB/s}]}",
        "test");
    const Topology topology = read_topology(study.root());
    EXPECT_EQ(load_on(topology, "ring", kReduceScatter, 4).busy(kSize).ps, kSize.count / 4 * 3 * 4);
}

TEST(PhaseLoadTest, RoundsUpAndSaturates) {
    const PhaseLoad ring = load("ring", kReduceScatter, "ring", 8);
    EXPECT_EQ(ring.busy({1}).ps, 1U);
    EXPECT_EQ(ring.busy({0}).ps, 0U);
    EXPECT_EQ((PhaseLoad{{}, {1}, {1'000'000}}.busy({~std::uint64_t{0}}).ps), kMaxPs);
}

}  // namespace
}  // namespace astra
