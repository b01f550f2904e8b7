#include "workload/training/schedule_trace.h"

#include <gmock/gmock.h>

#include "tests/workload/training/training_traces.h"
#include "workload/graph/graph_builder.h"

namespace astra::test {
namespace {

using testing::UnorderedElementsAre;

class BuilderSink final : public NodeSink {
  public:
    explicit BuilderSink(GraphBuilder& builder) : builder_(builder) {}
    void add(const TraceNode& node) override {
        builder_.add(node);
        if (!node.control_parents.empty()) {
            controlled.push_back(node.name);
        }
    }
    std::vector<std::string> controlled;

  private:
    GraphBuilder& builder_;
};

// Two tensors of 1000 and 600 bytes, two iterations without a barrier. In the first both are
// merged, in the second tensor 1 is cut in two.
TEST(ScheduleTrace, HoldsMergedAndSplitTransfers) {
    Workload workload =
        same_trace(computation(1, "forward_0", 1) + computation(2, "forward_1", 1, {1}) +
                   computation(3, "backward_1", 2, {2}) + reduction(4, "all_reduce_1", 1000, {3}) +
                   instant(5, "update_1", {4}) + computation(6, "backward_0", 2, {3}) +
                   reduction(7, "all_reduce_0", 600, {6}) + instant(8, "update_0", {7}));
    Warnings warnings;
    prepare_training(workload, {.iterations = 2, .barrier = false}, {}, {}, warnings);
    const std::vector<LaunchRecord> launches = {
        {GroupId{0}, {{0, 0, {1000}}, {0, 1, {600}}}, {10}, {20}},
        {GroupId{0}, {{1, 0, {700}}}, {30}, {40}},
        {GroupId{0}, {{1, 0, {300}}}, {35}, {50}},  // beside the one before it
        {GroupId{0}, {{1, 1, {600}}}, {40}, {60}}};
    // Ops 0, 1, 2, 5 compute in the first copy, 8 more in the second; updates are not ordered.
    const std::vector<std::uint32_t> computed = {0, 1, 2, 5, 4, 7, 8, 9, 10, 13, 12, 15};
    GraphBuilder builder("new", 0, 2);
    BuilderSink sink(builder);
    emit_schedule(workload, 0, launches, computed, sink);
    const UnresolvedRank rank = builder.finish(warnings);
    const ExecutionGraph& graph = *rank.graph;
    ASSERT_EQ(graph.size(), 12U + 4U);
    std::vector<std::pair<std::string, std::uint64_t>> collectives;
    for (std::uint32_t op = 12; op < 16; ++op) {
        collectives.emplace_back(name_of(graph, op),
                                 graph.collectives[graph.detail[op]].bytes.count);
    }
    using Pair = std::pair<std::string, std::uint64_t>;
    EXPECT_THAT(collectives,
                testing::ElementsAre(Pair{"all_reduce_1_and_1_more", 1600},
                                     Pair{"all_reduce_1_part", 700},
                                     Pair{"all_reduce_1_part", 300},
                                     Pair{"all_reduce_0", 600}));
    EXPECT_THAT(edges_by_name(graph),
                UnorderedElementsAre("forward_0 > forward_1",
                                     "forward_1 > backward_1",
                                     "backward_1 > backward_0",
                                     "backward_1 > all_reduce_1_and_1_more",
                                     "backward_0 > all_reduce_1_and_1_more",
                                     "all_reduce_1_and_1_more > update_1",
                                     "all_reduce_1_and_1_more > update_0",
                                     "backward_0 > forward_0",
                                     "update_0 > forward_0",
                                     "update_1 > forward_1",
                                     "forward_0 > forward_1",
                                     "forward_1 > backward_1",
                                     "backward_1 > backward_0",
                                     "backward_1 > all_reduce_1_part",
                                     "backward_1 > all_reduce_1_part",
                                     "backward_0 > all_reduce_0",
                                     "all_reduce_1_part > update_1",
                                     "all_reduce_1_part > update_1",
                                     "all_reduce_0 > update_0",
                                     // control: the last launch that had ended
                                     "all_reduce_1_and_1_more > all_reduce_1_part",
                                     "all_reduce_1_and_1_more > all_reduce_1_part",
                                     "all_reduce_1_part > all_reduce_0"));
    EXPECT_THAT(sink.controlled,
                UnorderedElementsAre("forward_1",
                                     "backward_1",
                                     "backward_0",
                                     "forward_0",
                                     "forward_1",
                                     "backward_1",
                                     "backward_0",
                                     "all_reduce_1_part",
                                     "all_reduce_1_part",
                                     "all_reduce_0"));
}

}  // namespace
}  // namespace astra::test
