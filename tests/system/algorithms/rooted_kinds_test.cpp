// Kinds from a trace to their end: roots, what comm_size means, groups of one, and what is refused.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "tests/support/closed_form.h"
#include "tests/support/experiment.h"

namespace astra {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kRanks = 4;
constexpr std::uint32_t kRoot = 2;
constexpr std::uint64_t kMiB = 1U << 20U;

// One collective of 1 MiB over a full connection, flat, with a root of 2.
test::Experiment experiment(CollectiveKind kind) {
    test::Experiment e;
    e.dimensions = {{"FullyConnected", kRanks, 50, 500'000}};
    e.settings = {fmt::format("system.collectives.{}=flat", name_of(kind))};
    TraceNode node = test::collective(1, kind, kMiB);
    node.source = kRoot;
    e.traces = test::everywhere(kRanks, {node});
    return e;
}

// A rank that only sends x bytes is through when they have left its link, after its endpoint delay
// d and the time on the wire: to each of its peers over a link of its own. One that receives x
// bytes is through after 2d + C(x), and R(x) more if it reduces.
void expect_finish(const test::Experiment& e,
                   bool root_receives,
                   std::uint64_t bytes,
                   bool reduces) {
    const test::ClosedForm t(e);
    const RunResult result = test::run(e);
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
        const bool receives = (rank == kRoot) == root_receives;
        const std::uint64_t received =
            t.travel(bytes, 1) + t.delay() + (reduces ? t.reduction(bytes) : 0);
        EXPECT_EQ(test::rank_record(result, rank).finish.ps,
                  t.delay() + (receives ? received : t.wire(bytes)))
            << "rank " << rank;
    }
}

TEST(RootedKindsTest, TheRootOfTheTraceIsTheRoot) {
    expect_finish(experiment(CollectiveKind::Broadcast), false, kMiB, false);
    expect_finish(experiment(CollectiveKind::Reduce), true, kMiB, true);
}

// As for an all_gather: what one rank has, unless the workload says that it is the whole.
TEST(RootedKindsTest, SizeOfGatherAndScatterIsThatOfOneRank) {
    expect_finish(experiment(CollectiveKind::Gather), true, kMiB, false);
    expect_finish(experiment(CollectiveKind::Scatter), false, kMiB, false);
    for (const CollectiveKind kind : {CollectiveKind::Gather, CollectiveKind::Scatter}) {
        test::Experiment e = experiment(kind);
        e.settings.emplace_back("workload.all_gather_size=total");
        expect_finish(e, kind == CollectiveKind::Gather, kMiB / kRanks, false);
    }
}

// The group lists rank 3 first: the root is a rank, not a position.
TEST(RootedKindsTest, TheRootIsARankOfTheGroup) {
    test::Experiment e = experiment(CollectiveKind::Broadcast);
    e.groups = {{"g", {3, 2, 0}}};
    TraceNode node = test::collective(1, CollectiveKind::Broadcast, kMiB, {}, "g");
    node.source = kRoot;
    e.traces = {{node}, {}, {node}, {node}};
    const test::ClosedForm t(e);
    const RunResult result = test::run(e);
    const std::uint64_t received = 2 * t.delay() + t.travel(kMiB, 1);
    EXPECT_EQ(test::rank_record(result, 0).finish.ps, received);
    EXPECT_EQ(test::rank_record(result, 2).finish.ps, t.delay() + t.wire(kMiB));
    EXPECT_EQ(test::rank_record(result, 3).finish.ps, received);
}

TEST(RootedKindsTest, RanksThatDisagreeAboutTheRootAreNamed) {
    test::Experiment e = experiment(CollectiveKind::Gather);
    e.traces[3][0].source = 1;
    try {
        test::run(e);
        FAIL() << "no error";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("rank 3 (node 1)"));
        EXPECT_THAT(error.what(), HasSubstr("gather of 1048576 B with the root at rank 1"));
    }
}

std::string study(const std::string& kind,
                  const std::string& system,
                  const std::string& dimensions) {
    return fmt::format(
        "workload: {{generate: {{kind: collective, collective: {}, bytes: 64KiB}}}}\n"
        "system: {{{}}}\n"
        "network: {{dimensions: [{}]}}\n",
        kind,
        system,
        dimensions);
}

TEST(AllKindsTest, AGroupOfOneExchangesNothing) {
    for (std::uint32_t kind = 0; kind < kCollectiveKinds; ++kind) {
        const RunResult result =
            test::run_study(study(name_of(static_cast<CollectiveKind>(kind)),
                                  "chunks: 2",
                                  "{topology: switch, ranks: 1, bandwidth: 50GB/s}"));
        EXPECT_EQ(result.simulated.ps, 0U) << kind;
        EXPECT_EQ(result.collectives.size(), 1U) << kind;
    }
}

// Their blocks are equal in both; the algorithms of one are those of the other unless given.
TEST(AllKindsTest, ReduceScatterBlockIsAReduceScatter) {
    const std::string dimensions =
        "{topology: ring, ranks: 4, bandwidth: 50GB/s, latency: 500ns}, "
        "{topology: switch, ranks: 4, bandwidth: 25GB/s, latency: 1us}";
    const std::string system = "chunks: 4, collectives: {reduce_scatter: [ring, halvingDoubling]}";
    const RunResult one = test::run_study(study("reduce_scatter", system, dimensions));
    const RunResult other = test::run_study(study("reduce_scatter_block", system, dimensions));
    EXPECT_EQ(one.simulated, other.simulated);
    ASSERT_EQ(other.collectives.size(), 1U);
    EXPECT_EQ(other.collectives[0].kind, CollectiveKind::ReduceScatterBlock);
    EXPECT_EQ(other.collectives[0].algorithm, "ring+halvingDoubling");
}

std::string refusal(const std::string& kind, const std::string& algorithm) {
    try {
        test::run_study(study(kind,
                              fmt::format("collectives: {{{}: {}}}", kind, algorithm),
                              "{topology: switch, ranks: 8, bandwidth: 50GB/s}"));
    } catch (const InputError& error) {
        return error.what();
    }
    return "no error";
}

TEST(AllKindsTest, WhatAnAlgorithmCannotDoIsRefusedWithTheReason) {
    EXPECT_THAT(refusal("reduce", "ring"),
                HasSubstr("algorithm 'ring' cannot run reduce over 8 ranks"));
    EXPECT_THAT(refusal("barrier", "chain"),
                HasSubstr("it does broadcast, reduce, gather, scatter only"));
    EXPECT_THAT(refusal("gather", "chain4294967295"),
                HasSubstr("its program would store 120259084260 messages"));
    EXPECT_THAT(refusal("reduce_scatter_block", "flat"),
                HasSubstr("cannot run reduce_scatter_block over 8 ranks"));
    EXPECT_THAT(refusal("all_reduce", "hierarchical"),
                HasSubstr("it needs the size of a group behind its name, as in hierarchical8"));
    EXPECT_THAT(refusal("all_to_all", "hierarchical3"),
                HasSubstr("groups of 3 do not divide them"));
    EXPECT_THAT(refusal("all_reduce", "multiRing65"), HasSubstr("at most 64 rings are possible"));
    EXPECT_THAT(refusal("broadcast", "chain4294967295"),
                HasSubstr("its program would store 34359738360 messages"));
    EXPECT_THAT(refusal("all_reduce", "ncclTree4294967295"),
                HasSubstr("its program would store 137438953440 messages"));
}

}  // namespace
}  // namespace astra
