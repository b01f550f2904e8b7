// Synthesised programs: proved, within the bounds of their links, and as fast as was promised.
#include "system/synthesis/synthesis.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"
#include "network/topology/topology_reader.h"
#include "system/program/verifier/verifier.h"
#include "system/synthesis/bandwidth_bound.h"
#include "tests/system/synthesis/synthesis_fixture.h"
#include "tests/validation/small_fabrics.h"

namespace astra {
namespace {

constexpr Bytes kSize{12 * 6 * 10'000};  // divides by 12 ranks and 1, 2, 3 or 6 blocks each
constexpr CollectiveKind kKinds[] = {
    CollectiveKind::AllGather, CollectiveKind::ReduceScatter, CollectiveKind::AllReduce};

TestNetwork aware_network(const std::string& keys) {
    const ConfigTree tree = ConfigTree::parse_text("{" + keys + "}", "network.yml");
    return TestNetwork(
        *backends().find("congestion_aware"), read_topology(tree.root()), "{" + keys + "}");
}

class SynthesisOnFabric : public testing::TestWithParam<std::string> {};

// On every registered kind of fabric, uniform or not: the verifier proves the program; no link
// carries two blocks at once; all_gather and reduce_scatter take one message a missing block,
// all_reduce twice that; no less time than the links allow.
TEST_P(SynthesisOnFabric, IsProvedAndWithinTheBounds) {
    const test::Fabrics fabrics;
    TestNetwork network = aware_network(fabrics.keys(GetParam()));
    const auto ranks = all_ranks(network.topology());
    const GroupGraph graph(network.routing(), ranks);
    for (const CollectiveKind kind : kKinds) {
        for (const std::uint32_t blocks : {1U, 3U}) {
            const ProgramShape shape = shape_of(kind, graph.members(), blocks);
            const auto transfers = synthesise(graph, shape, {kSize, kHandling});
            const std::uint64_t n = graph.members();
            EXPECT_EQ(transfers.size(),
                      n * (n - 1) * blocks * (kind == CollectiveKind::AllReduce ? 2 : 1));
            expect_no_overlap(graph, transfers, {kSize.count / n / blocks});
            EXPECT_GE(makespan(transfers).ps, bandwidth_bound(graph, kind, kSize).ps);
            const Program program = program_of(transfers, shape, graph, kSize);
            const Verdict verdict = verify(program, kind, 0);
            EXPECT_TRUE(verdict.correct) << name_of(kind) << ": " << verdict.fault;
        }
    }
}

// The program does what was planned, on the backend whose laws the plan follows: the members start
// after the endpoint delay, and the last message is handled after its arrival. Exactly so where all
// paths are alike. Elsewhere a program does not know that a message is better sent later, since it
// would overtake another one on a link that they share further on.
TEST_P(SynthesisOnFabric, TakesTheTimeThatWasPlanned) {
    const bool alike = GetParam() == "ring" || GetParam() == "line" || GetParam() == "torus" ||
                       GetParam() == "switch" || GetParam() == "fully_connected" ||
                       GetParam() == "switch_with_latency";
    for (const CollectiveKind kind : kKinds) {
        const test::Fabrics fabrics;
        TestNetwork network = aware_network(fabrics.keys(GetParam()));
        const auto ranks = all_ranks(network.topology());
        const GroupGraph graph(network.routing(), ranks);
        const ProgramShape shape = shape_of(kind, graph.members(), 2);
        const auto transfers = synthesise(graph, shape, {kSize, kHandling});
        const Program program = program_of(transfers, shape, graph, kSize);
        const std::uint64_t time_ps = ProgramRunner::time_ps(network, program, ranks, kSize);
        const std::uint64_t planned_ps = makespan(transfers).ps + 2 * kHandling.ps;
        if (alike) {
            EXPECT_EQ(time_ps, planned_ps) << name_of(kind);
        } else {
            EXPECT_LE(time_ps, planned_ps + planned_ps / 4) << name_of(kind);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Fabrics,
                         SynthesisOnFabric,
                         testing::ValuesIn(test::Fabrics::names()),
                         [](const auto& test) { return test.param; });

// 7 blocks over 7 links each, all at once: 10^7 bytes at 100 GB/s are 100 us, and 500 ns of
// latency. An all_reduce does it twice, and handles the messages in between.
TEST(Synthesis, SendsEverythingAtOnceWhereAllAreConnected) {
    TestNetwork network(*backends().find("congestion_aware"),
                        {{"fully_connected", 8, {800'000'000'000}, 500'000}});
    const GroupGraph graph(network.routing(), all_ranks(network.topology()));
    const SynthesisSettings settings{{80'000'000}, kHandling};
    for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
        EXPECT_EQ(makespan(synthesise(graph, shape_of(kind, 8, 1), settings)).ps, 100'500'000U);
    }
    const auto both = synthesise(graph, shape_of(CollectiveKind::AllReduce, 8, 1), settings);
    EXPECT_EQ(makespan(both).ps, 2 * 100'500'000U + 10'000U);
}

// A rank of a 4 x 4 torus has four links of 50 GB/s in and out: 15/16 of 2^30 bytes over 200 GB/s
// are 5033.16 us. Within 2 %, with both directions of all rings at work.
TEST(Synthesis, ReachesTheBoundOfATorus) {
    TestNetwork network(
        *backends().find("congestion_aware"),
        {{"ring", 4, {400'000'000'000}, 500'000}, {"ring", 4, {400'000'000'000}, 500'000}});
    const GroupGraph graph(network.routing(), all_ranks(network.topology()));
    const Bytes size{1U << 30U};
    const Duration bound = bandwidth_bound(graph, CollectiveKind::AllGather, size);
    EXPECT_EQ(bound.ps, 5'033'164'800U);
    const auto shape = shape_of(CollectiveKind::AllGather, 16, 8);
    const auto transfers = synthesise(graph, shape, {size, kHandling});
    EXPECT_LE(static_cast<double>(makespan(transfers).ps), 1.02 * static_cast<double>(bound.ps));
}

// Rings of four at 200 GB/s a link, joined by switches of eight at 100 GB/s. 28/32 of 2^30 bytes
// come into each ring of four over 4 · 100 GB/s in 2348.81 us, 31/32 into each rank over 500 GB/s
// in 2080.37 us: all of the switches' links are needed all of the time, and those of the rings for
// what is left, (31/32 · 2^30 - 0.235 · 10^9) / 400 GB/s = 2013 us on average.
TEST(Synthesis, UsesLinksInProportionToTheirBandwidth) {
    TestNetwork network(
        *backends().find("congestion_aware"),
        {{"ring", 4, {1'600'000'000'000}, 500'000}, {"switch", 8, {800'000'000'000}, 500'000}});
    const GroupGraph graph(network.routing(), all_ranks(network.topology()));
    const Bytes size{1U << 30U};
    const auto shape = shape_of(CollectiveKind::AllGather, 32, 8);
    const auto transfers = synthesise(graph, shape, {size, kHandling});
    const auto busy = expect_no_overlap(graph, transfers, {size.count / 32 / 8});
    EXPECT_EQ(bandwidth_bound(graph, CollectiveKind::AllGather, size).ps, 2'348'810'240U);
    const double time = static_cast<double>(makespan(transfers).ps);
    EXPECT_LT(time, 1.05 * 2'348'810'240.0);
    ASSERT_EQ(busy.size(), 2 * 32U + 2 * 32U);
    for (const auto& [link, busy_ps] : busy) {
        const bool ring = graph.properties(link).bandwidth.bits_per_s == 1'600'000'000'000U;
        EXPECT_GT(static_cast<double>(busy_ps), (ring ? 0.6 : 0.93) * time) << "link " << link;
    }
}

// The even ranks of a ring, out of order: neighbours are those with one other rank between.
TEST(Synthesis, RunsOnSomeRanksOfAFabric) {
    TestNetwork network(*backends().find("congestion_aware"),
                        {{"ring", 8, {400'000'000'000}, 500'000}});
    const std::vector<std::uint32_t> ranks = {4, 0, 2, 6};
    const GroupGraph graph(network.routing(), ranks);
    ASSERT_EQ(graph.edges().size(), 8U);
    for (const GroupGraph::Edge& edge : graph.edges()) {
        EXPECT_EQ(edge.count, 2U);
        const std::uint32_t apart = (ranks[edge.from] + 8 - ranks[edge.to]) % 8;
        EXPECT_TRUE(apart == 2 || apart == 6) << ranks[edge.from] << " " << ranks[edge.to];
    }
    const ProgramShape shape = shape_of(CollectiveKind::AllReduce, 4, 3);
    const auto transfers = synthesise(graph, shape, {kSize, kHandling});
    const Program program = program_of(transfers, shape, graph, kSize);
    EXPECT_TRUE(verify(program, CollectiveKind::AllReduce, 0).correct);
    EXPECT_EQ(ProgramRunner::time_ps(network, program, ranks, kSize),
              makespan(transfers).ps + 2 * kHandling.ps);
}

TEST(Synthesis, IsTheSameForTheSameSeed) {
    TestNetwork network(
        *backends().find("congestion_aware"),
        {{"ring", 4, {400'000'000'000}, 500'000}, {"ring", 3, {400'000'000'000}, 500'000}});
    const GroupGraph graph(network.routing(), all_ranks(network.topology()));
    const ProgramShape shape = shape_of(CollectiveKind::AllReduce, 12, 4);
    const auto one = synthesise(graph, shape, {kSize, kHandling, {}, 1});
    EXPECT_TRUE(one == synthesise(graph, shape, {kSize, kHandling, {}, 1}));
    EXPECT_FALSE(one == synthesise(graph, shape, {kSize, kHandling, {}, 2}));
}

// Sizes, latencies and delays of years, and links of a bit a second: the plan stays finite, and is
// the one of a size at which latencies do not matter either.
TEST(Synthesis, PlansForAbsurdSizes) {
    TestNetwork network(*backends().find("congestion_aware"), {{"ring", 6, {1}, kMaxPs / 2}});
    const GroupGraph graph(network.routing(), all_ranks(network.topology()));
    const ProgramShape shape = shape_of(CollectiveKind::AllReduce, 6, 4);
    const auto transfers = synthesise(graph, shape, {{kMaxPs}, {kMaxPs}, {1}});
    EXPECT_EQ(transfers.size(), 2 * 6 * 5 * 4U);
    EXPECT_LT(makespan(transfers).ps, kMaxPs / 2);
    EXPECT_TRUE(verify(program_of(transfers, shape, graph, {kMaxPs}), CollectiveKind::AllReduce, 0)
                    .correct);
}

// A link of eight times the bandwidth stays one: at the least each of four rings gets 12 · 4 blocks
// over slow links, 192 of 960 transfers in all. With equal links it would be half of them.
TEST(Synthesis, PlansForAbsurdSizesInProportion) {
    TestNetwork network(
        *backends().find("congestion_aware"),
        {{"ring", 4, {800'000'000'000}, 500'000}, {"ring", 4, {100'000'000'000}, 500'000}});
    const GroupGraph graph(network.routing(), all_ranks(network.topology()));
    const ProgramShape shape = shape_of(CollectiveKind::AllGather, 16, 4);
    const auto transfers = synthesise(graph, shape, {{kMaxPs}, kHandling});
    const auto slow = std::count_if(transfers.begin(), transfers.end(), [](const Transfer& t) {
        return t.from / 4 != t.to / 4;
    });
    EXPECT_EQ(transfers.size(), 960U);
    EXPECT_GE(slow, 192);
    EXPECT_LE(slow, 240);
}

// 20,000 blocks a member are planned as well as four: within 1 us of the bound.
TEST(Synthesis, TakesManyBlocks) {
    TestNetwork network(*backends().find("congestion_aware"),
                        {{"ring", 3, {400'000'000'000}, 500'000}});
    const GroupGraph graph(network.routing(), all_ranks(network.topology()));
    const ProgramShape shape = shape_of(CollectiveKind::AllGather, 3, 20'000);
    const auto transfers = synthesise(graph, shape, {{60'000'000}, kHandling});
    EXPECT_EQ(transfers.size(), 3 * 2 * 20'000U);
    EXPECT_LT(makespan(transfers).ps,
              bandwidth_bound(graph, CollectiveKind::AllGather, {60'000'000}).ps + 1'000'000);
}

TEST(Synthesis, RefusesAGroupThatIsCut) {
    const ConfigTree tree = ConfigTree::parse_text(
        "{dimensions: [{topology: line, ranks: 4, bandwidth: 1GB/s, latency: 1us}], "
        "links: [{from: 1, to: 2, down: true}]}",
        "network.yml");
    const Topology topology = read_topology(tree.root());
    Routing routing(topology, RoutePolicy::Ecmp, 1);
    EXPECT_THROW(GroupGraph(routing, all_ranks(topology)), SimulationError);
    const std::vector<std::uint32_t> whole = {2, 3};
    EXPECT_EQ(GroupGraph(routing, whole).edges().size(), 2U);
}

TEST(Synthesis, RefusesOtherKindsAndTooManyMessages) {
    EXPECT_EQ(synthesis_refusal(shape_of(CollectiveKind::AllReduce, 128, 0)), "");
    EXPECT_EQ(synthesis_refusal(shape_of(CollectiveKind::AllToAll, 128, 0)),
              "it does all_gather, reduce_scatter, all_reduce only");
    EXPECT_NE(synthesis_refusal(shape_of(CollectiveKind::AllGather, 1U << 20U, ~0U)), "");
    EXPECT_NE(synthesis_refusal(shape_of(CollectiveKind::AllGather, 4096, 0)), "");
    EXPECT_EQ(synthesis_refusal(shape_of(CollectiveKind::AllReduce, 1448, 0)), "");
    EXPECT_NE(synthesis_refusal(shape_of(CollectiveKind::AllReduce, 1449, 0)), "");
}

}  // namespace
}  // namespace astra
