#include "workload/graph/symmetry.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "workload/generate/generator.h"

namespace astra {
namespace {

RankClasses classes(const std::string& kind, const ParameterMap& parameters, std::uint32_t ranks) {
    Warnings warnings;
    return classes_of(generate_workload(kind, parameters, ranks, warnings));
}

TEST(Symmetry, DataParallelTrainingIsOneClass) {
    EXPECT_EQ(classes("training", {}, 64).classes(), 1U);
}

TEST(Symmetry, TensorParallelGroupsAreAlike) {
    EXPECT_EQ(classes("tensor_parallel", {{"group_size", "4"}}, 32).classes(), 1U);
}

TEST(Symmetry, ARingOfMessagesIsOneClass) {
    EXPECT_EQ(classes("shift", {{"offset", "3"}}, 16).classes(), 1U);
}

// Inner stages share a graph, but one stands next to the first and another does not: each distance
// from the ends is a class.
TEST(Symmetry, EveryStageOfAPipelineIsAClass) {
    for (const std::uint32_t stages : {2U, 3U, 8U, 33U}) {
        EXPECT_EQ(classes("pipeline", {}, stages), RankClasses::each_alone(stages));
    }
}

// Tokens go to experts by absolute number.
TEST(Symmetry, SizesByPairTellPositionsApart) {
    EXPECT_EQ(classes("experts", {{"skew", "4"}}, 8).classes(), 8U);
}

class SymmetryOf : public testing::Test {
  protected:
    static std::shared_ptr<const ExecutionGraph> graph(std::uint64_t duration) {
        auto graph = std::make_shared<ExecutionGraph>();
        graph->kind = {OpKind::Compute};
        graph->duration_ps = {duration};
        return graph;
    }
    static std::shared_ptr<const ExecutionGraph> collective(std::uint32_t root_role) {
        auto graph = std::make_shared<ExecutionGraph>();
        graph->kind = {OpKind::Collective};
        graph->detail = {0};
        CollectiveDetail& detail = graph->collectives.emplace_back();
        detail.kind = CollectiveKind::Broadcast;
        detail.root_role = root_role;
        return graph;
    }
};

TEST_F(SymmetryOf, DifferingTracesDiffer) {
    const auto fast = graph(1);
    const auto slow = graph(2);
    Workload workload;
    workload.ranks = {{fast, {}, {}, ""}, {slow, {}, {}, ""}, {fast, {}, {}, ""}};
    EXPECT_EQ(classes_of(workload), RankClasses({0, 1, 0}));
}

// Rank 0 waits for a slow rank, rank 1 for a fast one, at the same op of the same graph.
TEST_F(SymmetryOf, DifferingPeersMakeRanksDiffer) {
    const auto asks = graph(1);
    const auto fast = graph(2);
    const auto slow = graph(3);
    Workload workload;
    workload.ranks = {
        {asks, {2}, {}, ""}, {asks, {3}, {}, ""}, {slow, {}, {}, ""}, {fast, {}, {}, ""}};
    EXPECT_EQ(classes_of(workload), RankClasses({0, 1, 2, 3}));
    workload.ranks[3].graph = slow;
    EXPECT_EQ(classes_of(workload), RankClasses({0, 0, 1, 1}));
}

TEST_F(SymmetryOf, SendingToItselfIsNotSendingToAnother) {
    const auto sends = graph(1);
    Workload workload;
    workload.ranks = {{sends, {0}, {}, ""}, {sends, {0}, {}, ""}};
    EXPECT_EQ(classes_of(workload).classes(), 2U);
}

// Without a root the members of a group are alike; with one a tree takes them at different times.
TEST_F(SymmetryOf, DistanceFromARootTellsApart) {
    const auto alike = collective(kNoRole);
    const auto rooted = collective(0);
    Workload without;
    without.groups = {{"all", {0, 1, 2, 3}}};
    Workload with = without;
    for (int rank = 0; rank < 4; ++rank) {
        without.ranks.push_back({alike, {}, {0}, ""});
        with.ranks.push_back({rooted, {0}, {0}, ""});
    }
    EXPECT_EQ(classes_of(without).classes(), 1U);
    EXPECT_EQ(classes_of(with).classes(), 4U);
}

// The definition itself, in rounds over all ranks: what each sees, group members one by one.
RankClasses by_definition(const Workload& workload) {
    const auto ranks = static_cast<std::uint32_t>(workload.ranks.size());
    RankClasses now(std::vector<std::uint32_t>(ranks, 0));
    while (true) {
        std::map<std::vector<std::uint64_t>, std::uint32_t> numbers;
        std::vector<std::uint32_t> labels;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            const RankTrace& trace = workload.ranks[rank];
            std::vector<std::uint64_t> seen{index(now.class_of(RankId{rank})),
                                            trace.graph->duration_ps[0]};
            for (const std::uint32_t peer : trace.peers) {
                seen.push_back(index(now.class_of(RankId{peer})) * 2 + (peer == rank ? 1 : 0));
            }
            for (const std::uint32_t group : trace.groups) {
                const auto& members = workload.groups[group].ranks;
                const auto at = static_cast<std::size_t>(
                    std::find(members.begin(), members.end(), rank) - members.begin());
                seen.push_back(members.size());
                for (std::size_t k = 0; k < members.size(); ++k) {
                    const RankId member{members[(at + k) % members.size()]};
                    seen.push_back(index(now.class_of(member)));
                }
            }
            labels.push_back(numbers.try_emplace(seen, static_cast<std::uint32_t>(numbers.size()))
                                 .first->second);
        }
        const RankClasses next(labels);
        if (next == now) {
            return now;
        }
        now = next;
    }
}

// Blocks of equal structure with a few differences put into them.
TEST_F(SymmetryOf, AgreesWithTheDefinition) {
    std::mt19937 random(3);
    const auto pick = [&](std::uint32_t below) {
        return static_cast<std::uint32_t>(random() % below);
    };
    std::set<std::uint32_t> found;
    for (int i = 0; i < 300; ++i) {
        const std::uint32_t block = 2 + pick(4);
        const std::uint32_t blocks = 1 + pick(5);
        const std::uint32_t ranks = block * blocks;
        const std::vector<std::shared_ptr<const ExecutionGraph>> graphs = {graph(0), graph(1)};
        std::vector<std::uint32_t> graph_at(block);
        for (std::uint32_t& at : graph_at) {
            at = pick(2);
        }
        const std::uint32_t offset = 1 + pick(ranks - 1);
        const std::uint32_t odd = pick(2) == 0 ? ranks : pick(ranks);
        Workload workload;
        for (std::uint32_t b = 0; b < blocks; ++b) {
            GroupDefinition group{std::to_string(b), {}};
            for (std::uint32_t k = 0; k < block; ++k) {
                const std::uint32_t rank = b * block + k;
                group.ranks.push_back(b * block + (k + b) % block);
                workload.ranks.push_back({graphs[graph_at[k] ^ (rank == odd ? 1U : 0U)],
                                          {(rank + offset) % ranks},
                                          {b},
                                          ""});
            }
            workload.groups.push_back(std::move(group));
        }
        const RankClasses classes = classes_of(workload);
        EXPECT_EQ(classes, by_definition(workload)) << i;
        found.insert(classes.classes());
    }
    EXPECT_GT(found.size(), 8U);  // from one class to all alone
}

}  // namespace
}  // namespace astra
