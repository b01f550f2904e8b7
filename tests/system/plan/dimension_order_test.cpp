// In which order the chunks of a collective visit the dimensions, and what each phase moves then.
#include "system/plan/dimension_order.h"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "system/plan/plan_maker.h"
#include "system/tuning/algorithm_choice.h"
#include "system/tuning/tuner.h"
#include "tests/network/test_network.h"

namespace astra {
namespace {

using testing::ElementsAre;

const DimensionSequence kUp = {0, 1};
const DimensionSequence kDown = {1, 0};

// Over n members a phase on s bytes works s(n-1)/n ps, an all_reduce twice that.
class FormulaLoads final : public PhaseLoads {
  public:
    explicit FormulaLoads(std::vector<std::uint64_t> latencies_ps)
        : latencies_ps_(std::move(latencies_ps)) {}
    const PhaseLoad& of(CollectivePlan& plan, const PhasePlan& phase, Bytes) override {
        const std::uint64_t n = plan.dimension_of(phase).size;
        const std::uint64_t times = phase.kind == CollectiveKind::AllReduce ? 2 : 1;
        load_ = {{latencies_ps_[phase.dimension]}, {n}, {times * (n - 1)}};
        return load_;
    }

  private:
    std::vector<std::uint64_t> latencies_ps_;
    PhaseLoad load_;
};

class DimensionOrderTest : public testing::Test {
  protected:
    explicit DimensionOrderTest(std::vector<std::uint32_t> sizes = {4, 2})
        : topology_(topology_of(sizes)), group_(GroupId{0}, "all", all(topology_), topology_) {
        for (std::uint32_t kind = 0; kind < kCollectiveKinds; ++kind) {
            config_.algorithms.set(static_cast<CollectiveKind>(kind),
                                   {{parse_algorithm("direct")}, "test"});
        }
    }

    CollectivePlan plan(CollectiveKind kind) {
        PlanKey key;
        key.kind = kind;
        return make_plan(group_, key, {}, config_, routing_, tuner_, warnings_);
    }
    std::vector<DimensionSequence> orders(const char* name,
                                          CollectiveKind kind,
                                          std::uint64_t chunks,
                                          Bytes chunk,
                                          std::vector<std::uint64_t> latencies_ps = {0, 0}) {
        CollectivePlan made = plan(kind);
        FormulaLoads loads(std::move(latencies_ps));
        return dimension_orders().find(name)->orders({made, chunks, chunk, loads});
    }

    static Topology topology_of(const std::vector<std::uint32_t>& sizes) {
        std::vector<Shape> shapes;
        for (const std::uint32_t size : sizes) {
            shapes.push_back({"fully_connected", size, gib_a_second(1), 0});
        }
        return build(shapes);
    }
    static std::vector<std::uint32_t> all(const Topology& topology) {
        std::vector<std::uint32_t> ranks(topology.ranks());
        std::iota(ranks.begin(), ranks.end(), 0U);
        return ranks;
    }

    PlanConfig config_;
    Warnings warnings_;
    Topology topology_;
    Routing routing_{topology_, RoutePolicy::DimensionOrder, 1};
    ConfigTree network_ = ConfigTree::empty_map("network");
    Tuner tuner_{
        routing_, *backends().find("congestion_unaware"), network_.root(), config_.tuning, {}};
    ProcessGroup group_;
};

class ThreeDimensionsTest : public DimensionOrderTest {
  protected:
    ThreeDimensionsTest() : DimensionOrderTest({2, 2, 2}) {}
};

TEST_F(DimensionOrderTest, AscendingForEveryChunk) {
    EXPECT_THAT(orders("ascending", CollectiveKind::AllReduce, 2, {64}), ElementsAre(kUp, kUp));
}

TEST_F(ThreeDimensionsTest, RotatedBeginsOneFurtherWithEveryChunk) {
    EXPECT_THAT(orders("rotated", CollectiveKind::AllReduce, 4, {64}),
                ElementsAre(DimensionSequence{0, 1, 2},
                            DimensionSequence{1, 2, 0},
                            DimensionSequence{2, 0, 1},
                            DimensionSequence{0, 1, 2}));
}

// Chunks of 64 B over four and two members. First the dimension of four: 48 ps there, 16/2 = 8 ps
// in the other; first that of two: 32 ps there and 32·3/4 = 24 ps. Loads before each chunk:
//   (0, 0) equal: ascending   (48, 8)   (72, 40)   (96, 72)   (120, 104)   (144, 136)
//   (168, 168) equal again: ascending
TEST_F(DimensionOrderTest, ThemisFillsTheDimensionWithTheLeastLoad) {
    const auto expected = ElementsAre(kUp, kDown, kDown, kDown, kDown, kDown, kUp);
    EXPECT_THAT(orders("themis", CollectiveKind::ReduceScatter, 7, {64}), expected);
    EXPECT_THAT(orders("themis", CollectiveKind::AllGather, 7, {64}), expected);
    EXPECT_THAT(orders("themis", CollectiveKind::AllReduce, 7, {64}), expected);
}

// A sixteenth of the chunk, 4 B, is 2 ps in the dimension of two, 3 ps in that of four: loads that
// differ by less stay as they are.
TEST_F(DimensionOrderTest, ThemisKeepsTheOrderWhileLoadsAreNearlyEqual) {
    const auto first = [&](std::uint64_t one_ps, std::uint64_t other_ps) {
        return orders("themis", CollectiveKind::ReduceScatter, 2, {64}, {one_ps, other_ps}).at(0);
    };
    EXPECT_EQ(first(101, 100), kUp);
    EXPECT_EQ(first(102, 100), kDown);
    EXPECT_EQ(first(100, 200), kUp);
}

// The whole buffer crosses every dimension, 48 and 32 ps: only where it begins can differ.
TEST_F(DimensionOrderTest, ThemisBeginsAnAllToAllWithTheLeastLoad) {
    EXPECT_THAT(orders("themis", CollectiveKind::AllToAll, 3, {64}),
                ElementsAre(kUp, kDown, kDown));
}

// Which dimension a phase is over, and what it works on at position 0.
std::vector<std::pair<std::uint32_t, std::uint64_t>> phases(CollectivePlan& plan,
                                                            const DimensionSequence& order,
                                                            Bytes chunk) {
    std::vector<std::pair<std::uint32_t, std::uint64_t>> list;
    const ChunkPhases& phases = plan.phases(order);
    for (std::uint32_t i = 0; i < phases.plans.size(); ++i) {
        list.emplace_back(phases.plans[i].dimension, plan.phase_bytes(phases, i, 0, chunk).count);
    }
    return list;
}

// What a phase works on depends on the dimensions before it: 64 B, cut in two, then in four.
TEST_F(DimensionOrderTest, PhasesAndTheirBytesFollowTheOrder) {
    using Pairs = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
    CollectivePlan all_reduce = plan(CollectiveKind::AllReduce);
    EXPECT_EQ(phases(all_reduce, kUp, {64}), (Pairs{{0, 64}, {1, 16}, {0, 64}}));
    EXPECT_EQ(phases(all_reduce, kDown, {64}), (Pairs{{1, 64}, {0, 32}, {1, 64}}));
    CollectivePlan scatter = plan(CollectiveKind::ReduceScatter);
    EXPECT_EQ(phases(scatter, kDown, {64}), (Pairs{{1, 64}, {0, 32}}));
    CollectivePlan gather = plan(CollectiveKind::AllGather);
    EXPECT_EQ(phases(gather, kDown, {64}), (Pairs{{0, 32}, {1, 64}}));
    CollectivePlan all_to_all = plan(CollectiveKind::AllToAll);
    EXPECT_EQ(phases(all_to_all, kDown, {64}), (Pairs{{1, 64}, {0, 64}}));
}

// 13 B over 4 x 2 = 8: whatever the order, the parts of all positions make up the whole.
TEST_F(DimensionOrderTest, PartsAddUpInEveryOrder) {
    CollectivePlan scatter = plan(CollectiveKind::ReduceScatter);
    for (const DimensionSequence& order : {kUp, kDown}) {
        const ChunkPhases& phases = scatter.phases(order);
        const std::uint32_t last = phases.plans.at(1).dimension;
        std::uint64_t sum = 0;
        for (std::uint32_t position = 0; position < 8; ++position) {
            const Bytes bytes = scatter.phase_bytes(phases, 1, position, {13});
            const auto& dimension = scatter.dimensions[last];
            sum += part_of(bytes, dimension.size, dimension.member(position)).count;
        }
        EXPECT_EQ(sum, 13U);
    }
}

// As the last dimension a double binary tree would do: it only knows all_reduce.
TEST_F(DimensionOrderTest, AnAlgorithmMustDoForEveryPlace) {
    config_.algorithms.set(
        CollectiveKind::AllReduce,
        {{parse_algorithm("direct"), parse_algorithm("doubleBinaryTree")}, "test"});
    EXPECT_NO_THROW(plan(CollectiveKind::AllReduce));
    config_.dimension_order = dimension_orders().find("themis");
    try {
        plan(CollectiveKind::AllReduce);
        ADD_FAILURE();
    } catch (const AlgorithmRefused& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("'doubleBinaryTree' cannot run"));
        EXPECT_THAT(error.what(), testing::HasSubstr("system.dimension_order 'themis'"));
    }
}

}  // namespace
}  // namespace astra
