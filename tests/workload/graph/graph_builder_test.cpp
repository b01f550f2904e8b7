#include "workload/graph/graph_builder.h"

#include <algorithm>
#include <random>

#include <gmock/gmock.h>

#include "astra/core/error.h"

namespace astra {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TraceNode compute(std::uint64_t id, std::vector<std::uint64_t> parents = {}) {
    TraceNode node;
    node.id = id;
    node.name = "n" + std::to_string(id);
    node.kind = OpKind::Compute;
    node.parents = std::move(parents);
    return node;
}

TraceNode send(std::uint64_t id, std::uint32_t to) {
    TraceNode node = compute(id);
    node.kind = OpKind::Send;
    node.destination = to;
    node.tag = 1;
    node.comm_bytes = 8;
    return node;
}

UnresolvedRank build(const std::vector<TraceNode>& nodes, Warnings& warnings) {
    GraphBuilder builder("f", 0, 8);
    for (const TraceNode& node : nodes) {
        builder.add(node);
    }
    return builder.finish(warnings);
}

std::string complaint(const std::vector<TraceNode>& nodes) {
    Warnings warnings;
    try {
        build(nodes, warnings);
    } catch (const TraceError& error) {
        return error.what();
    }
    return "";
}

TEST(GraphBuilder, LinksDistinctParents) {
    Warnings warnings;
    const UnresolvedRank rank =
        build({compute(0), compute(1, {0, 0}), compute(2, {1, 0, 1})}, warnings);
    EXPECT_THAT(rank.graph->parent_count, ElementsAre(0U, 1U, 2U));
    EXPECT_THAT(rank.graph->child_begin, ElementsAre(0U, 2U, 3U, 3U));
    EXPECT_THAT(rank.graph->child, ElementsAre(1U, 2U, 2U));
}

TEST(GraphBuilder, OrderOfTheFileLeavesNoMark) {
    std::vector<TraceNode> nodes;
    for (std::uint64_t i = 0; i < 40; ++i) {
        const std::uint64_t id = i * i * 1'000'003;
        nodes.push_back(i % 3 == 0 ? send(id, static_cast<std::uint32_t>((i * 5) % 8))
                                   : compute(id));
        for (std::uint64_t k = 1; k <= 3 && k <= i; ++k) {
            nodes.back().parents.push_back((i - k) * (i - k) * 1'000'003);
        }
        if (i % 5 == 1) {
            nodes.back().kind = OpKind::Collective;
            nodes.back().collective = CollectiveKind::Broadcast;
            nodes.back().comm_bytes = i;
            nodes.back().source = static_cast<std::uint32_t>(i % 4);
            nodes.back().group = "g" + std::to_string(i % 2);
        }
    }
    Warnings warnings;
    const UnresolvedRank sorted = build(nodes, warnings);
    std::mt19937 random(3);
    for (int i = 0; i < 10; ++i) {
        std::shuffle(nodes.begin(), nodes.end(), random);
        const UnresolvedRank shuffled = build(nodes, warnings);
        EXPECT_EQ(*shuffled.graph, *sorted.graph);
        EXPECT_EQ(shuffled.peers, sorted.peers);
        EXPECT_EQ(shuffled.group_names, sorted.group_names);
    }
    EXPECT_THAT(warnings.texts(), IsEmpty());
}

TEST(GraphBuilder, RefusesCycles) {
    EXPECT_THAT(complaint({compute(1, {3}), compute(2, {1}), compute(3, {2}), compute(4, {3})}),
                AllOf(HasSubstr("the dependencies form a cycle"),
                      HasSubstr("1 (n1)"),
                      HasSubstr("2 (n2)"),
                      HasSubstr("3 (n3)"),
                      testing::Not(HasSubstr("n4"))));
    EXPECT_THAT(complaint({compute(7, {7})}), HasSubstr("cycle: 7 (n7) -> 7"));
    std::vector<TraceNode> ring = {compute(0, {99})};
    for (std::uint64_t i = 1; i < 100; ++i) {
        ring.push_back(compute(i, {i - 1}));
    }
    EXPECT_THAT(complaint(ring), HasSubstr("(100 nodes)"));
}

TEST(GraphBuilder, BackwardIdsWithoutCycleAreFine) {
    Warnings warnings;
    const UnresolvedRank rank = build({compute(1, {3}), compute(2, {1}), compute(3)}, warnings);
    EXPECT_THAT(rank.graph->child, ElementsAre(1U, 0U));
}

TEST(GraphBuilder, RefusesDuplicateIds) {
    EXPECT_THAT(complaint({compute(5), compute(4), compute(5)}),
                HasSubstr("node 5 (n5): the id is used again by node 5 (n5)"));
    EXPECT_THAT(complaint({compute(0), compute(0)}), HasSubstr("used again"));
}

TEST(GraphBuilder, RefusesTheIdOfTheNodeBeforeAtOnce) {
    GraphBuilder builder("f", 0, 1);
    builder.add(compute(3));
    TraceNode again = compute(3);
    again.name = "other";
    try {
        builder.add(again);
        FAIL();
    } catch (const TraceError& error) {
        EXPECT_STREQ(error.what(),
                     "f: rank 0, node 3 (n3): the id is used again by node 3 (other)");
    }
}

TEST(GraphBuilder, DropsDanglingDependenciesWithOneWarning) {
    Warnings warnings;
    GraphBuilder builder("f", 0, 1);
    builder.add(compute(1, {0, 0, 100}));
    builder.add(compute(2, {0, 1}));
    const UnresolvedRank rank = builder.finish(warnings);
    EXPECT_EQ(builder.dropped_dependencies(), 3U);
    EXPECT_THAT(rank.graph->parent_count, ElementsAre(0U, 1U));
    EXPECT_THAT(warnings.texts(), ElementsAre(HasSubstr("f: dropped 3 dependencies")));
    EXPECT_THAT(warnings.texts()[0], HasSubstr("0, 100"));
}

TEST(GraphBuilder, SparseAndLargeIds) {
    Warnings warnings;
    const std::uint64_t large = std::uint64_t{1} << 63U;
    const UnresolvedRank rank = build(
        {compute(0), compute(1'000'000'007, {0}), compute(large, {0, 1'000'000'007})}, warnings);
    EXPECT_THAT(rank.graph->parent_count, ElementsAre(0U, 1U, 2U));
    EXPECT_THAT(complaint({compute(large + 1)}), HasSubstr("larger than 2^63"));
}

TEST(GraphBuilder, CutsNamesAndSharesThem) {
    TraceNode first = compute(1);
    first.name = std::string(300, 'x');
    TraceNode second = compute(2);
    second.name = std::string(250, 'x');
    Warnings warnings;
    const UnresolvedRank rank = build({first, second}, warnings);
    EXPECT_THAT(rank.graph->names, ElementsAre(std::string(200, 'x')));
}

TEST(GraphBuilder, RolesInOrderOfAppearance) {
    Warnings warnings;
    const UnresolvedRank rank = build({send(1, 5), send(2, 3), send(3, 5)}, warnings);
    EXPECT_THAT(rank.peers, ElementsAre(5U, 3U));
    EXPECT_EQ(rank.graph->points[2].peer_role, 0U);
    EXPECT_EQ(rank.graph->peer_roles, 2U);
}

TEST(GraphBuilder, SizesBeyond32Bits) {
    TraceNode node = send(1, 2);
    node.comm_bytes = std::uint64_t{1} << 63U;
    Warnings warnings;
    EXPECT_EQ(build({node}, warnings).graph->points[0].bytes.count, std::uint64_t{1} << 63U);
    node.comm_bytes = (std::uint64_t{1} << 63U) + 1;
    EXPECT_THAT(complaint({node}), HasSubstr("more than 2^63 bytes"));
    TraceNode late = compute(1);
    late.duration_ps = (std::uint64_t{1} << 63U) + 1;
    EXPECT_THAT(complaint({late}), HasSubstr("longer than 2^63 ps"));
}

}  // namespace
}  // namespace astra
