#include "workload/training/compute_order.h"

#include <gmock/gmock.h>

#include "system/transfer/policies/caramel_order.h"
#include "tests/workload/training/training_traces.h"

namespace astra::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SystemTimes all_reduce_of_a_millisecond() {
    SystemTimes system;
    system.measured.set(CollectiveKind::AllReduce, {{kMs}, {}, {}});
    return system;
}

// Forward 1 and 2 of 1 ms each; then the gradient of weight 2 takes 4 ms, the way to layer 1 1 ms
// and the gradient of weight 1 another. A transfer takes 1 ms.
constexpr std::uint64_t kF1 = 1;
std::string skewed_model() {
    return computation(kF1, "forward_1", 1) + computation(2, "forward_2", 1, {1}) +
           computation(3, "backward_2_weight", 4, {2}) + reduction(4, "all_reduce_2", 8, {3}) +
           instant(5, "update_2", {4}) + computation(6, "backward_2_input", 1, {2}) +
           computation(7, "backward_1", 1, {6}) + reduction(8, "all_reduce_1", 8, {7}) +
           instant(9, "update_1", {8});
}

// As recorded weight 2 is ready at 2 + 4 = 6 ms and weight 1 at 8 ms, when it is read: its transfer
// of 1 ms holds the next iteration up, which so takes 9 ms. Weight 1 first: ready at 4 ms; weight 2
// at 8 ms, and read at 9 ms, just after its transfer: 8 ms.
TEST(ComputeOrder, SavesAMillisecond) {
    const auto run = [](bool ordered, Workload& workload) {
        Warnings warnings;
        TrainingReport report = prepare_training(
            workload,
            {.iterations = 2, .barrier = false},
            {.queues = true, .barrier = false, .compute_order = ordered ? tightest_first : nullptr},
            all_reduce_of_a_millisecond(),
            warnings);
        EXPECT_THAT(warnings.texts(), IsEmpty());
        return report;
    };
    Workload recorded = same_trace(skewed_model());
    const TrainingReport before = run(false, recorded);
    EXPECT_FALSE(before.ordered);
    Workload workload = same_trace(skewed_model());
    const TrainingReport after = run(true, workload);
    EXPECT_TRUE(after.ordered);
    const auto boundaries = [](const Workload& of) {
        std::vector<std::uint64_t> ms;
        for (const TransferForecast& transfer : of.forecasts[0].transfers) {
            ms.push_back(transfer.ready.ps / kMs);
            ms.push_back(transfer.needed.ps / kMs);
        }
        return ms;
    };
    EXPECT_THAT(boundaries(recorded), ElementsAre(6, 9, 8, 8));
    EXPECT_THAT(boundaries(workload), ElementsAre(4, 8, 8, 9));
    const std::vector<Duration> cost(2, Duration{kMs});
    EXPECT_EQ(expected_iteration(recorded.forecasts[0], cost).ps, 9 * kMs);
    EXPECT_EQ(expected_iteration(workload.forecasts[0], cost).ps, 8 * kMs);
    // The order of the two iterations: dependencies are the same.
    EXPECT_EQ(workload.ranks[0].graph->child, recorded.ranks[0].graph->child);
    EXPECT_EQ(workload.ranks[0].graph->order.size(), 18U);
    EXPECT_THAT(recorded.ranks[0].graph->order, IsEmpty());
}

// Any function is an order: here the two ops of layer 1 move before the gradient of weight 2, by
// their numbers alone. Its transfers are ready as in the test above.
TEST(ComputeOrder, IsWhatAPolicyBrings) {
    const ComputeOrder layer_1_first = [](const ComputeGraph& graph) {
        EXPECT_EQ(graph.size(), 9U);
        EXPECT_EQ(graph.transfers.size(), 2U);
        EXPECT_EQ(graph.transfers[0].op, 3U);
        // Weight 2 has from 6 to 9 ms, less 1 ms; weight 1 none, less 1 ms.
        EXPECT_EQ(graph.transfers[0].slack_ps, static_cast<std::int64_t>(2 * kMs));
        EXPECT_EQ(graph.transfers[1].slack_ps, -static_cast<std::int64_t>(kMs));
        EXPECT_EQ(graph.first_reader[4], 1U);  // update_2
        return std::vector<std::uint32_t>{0, 1, 4, 5, 6, 2, 3, 7, 8};
    };
    Workload workload = same_trace(skewed_model());
    Warnings warnings;
    const TrainingReport report =
        prepare_training(workload,
                         {.iterations = 2, .barrier = false},
                         {.queues = true, .barrier = false, .compute_order = layer_1_first},
                         all_reduce_of_a_millisecond(),
                         warnings);
    EXPECT_TRUE(report.ordered);
    ASSERT_EQ(workload.forecasts[0].transfers.size(), 2U);
    EXPECT_EQ(workload.forecasts[0].transfers[0].ready.ps, 4 * kMs);
    EXPECT_EQ(workload.forecasts[0].transfers[1].ready.ps, 8 * kMs);
}

// An order is a permutation, and what it runs first among ready ops leads to the tightest window;
// an update stands right before its reader in the next iteration.
TEST(ComputeOrder, PutsUpdatesBeforeTheirReaders) {
    Workload workload = same_trace(skewed_model());
    const ExecutionGraph& graph = *workload.ranks[0].graph;
    const Dependencies dependencies(graph);
    const TrainingStructure structure =
        find_structure(graph, dependencies, TrainingRules(), "", "t");
    ASSERT_EQ(structure.transfers.size(), 2U);
    const std::vector<std::uint32_t> order = order_of_copies(
        tightest_first(compute_graph(graph, dependencies, structure, {2, -1})), structure, 9, 18);
    std::vector<std::string> names(18);
    for (std::uint32_t op = 0; op < 18; ++op) {
        names[order[op]] = name_of(graph, op % 9);
    }
    EXPECT_THAT(names,
                ElementsAre("forward_1",
                            "forward_2",
                            "backward_2_input",
                            "backward_1",
                            "backward_2_weight",
                            "all_reduce_1",
                            "update_1",
                            "forward_1",
                            "all_reduce_2",
                            "update_2",
                            "forward_2",
                            "backward_2_input",
                            "backward_1",
                            "backward_2_weight",
                            "all_reduce_1",
                            "update_1",
                            "all_reduce_2",
                            "update_2"));
}

// Updates at the end, one after the other, after all of the backward pass: each goes to its own
// reduction, and everything else stays.
TEST(ComputeOrder, FreesUpdatesFromTheirOrder) {
    Workload workload =
        same_trace(computation(1, "forward_1", 1) + computation(2, "forward_2", 1, {1}) +
                   computation(3, "backward_2", 1, {2}) + reduction(4, "all_reduce_2", 8, {3}) +
                   computation(5, "backward_1", 1, {3}) + reduction(6, "all_reduce_1", 8, {5}) +
                   instant(7, "clip", {4, 6}) + instant(8, "update_1", {6, 5}) +
                   instant(9, "update_2", {4, 6, 8, 7}));
    ExecutionGraph graph = *workload.ranks[0].graph;
    const Dependencies dependencies(graph);
    const TrainingStructure structure =
        find_structure(graph, dependencies, TrainingRules(), "", "t");
    // backward_1 > update_1 is of the same parameter; clip > update_2 is no mere order.
    EXPECT_EQ(free_updates(graph, structure), 2U);
    EXPECT_THAT(edges_by_name(graph),
                ElementsAre("forward_1 > forward_2",
                            "forward_2 > backward_2",
                            "backward_2 > all_reduce_2",
                            "backward_2 > backward_1",
                            "all_reduce_2 > clip",
                            "all_reduce_2 > update_2",
                            "backward_1 > all_reduce_1",
                            "backward_1 > update_1",
                            "all_reduce_1 > clip",
                            "all_reduce_1 > update_1",
                            "clip > update_2"));
}

// Two transfers of 3 ms, ready at 1 and 2 ms, needed at 6 and 5: 1-4 and 4-7, 2 ms late, on 5 ms of
// computation.
TEST(ComputeOrder, ExpectsWhatReadersWait) {
    GroupForecast forecast{{5 * kMs}, {}};
    forecast.transfers.push_back({{1}, {1 * kMs}, {6 * kMs}, 0});
    forecast.transfers.push_back({{1}, {2 * kMs}, {5 * kMs}, 1});
    EXPECT_EQ(expected_iteration(forecast, {{3 * kMs}, {3 * kMs}}).ps, 7 * kMs);
    EXPECT_EQ(expected_iteration(forecast, {{30 * kMs}, {30 * kMs}}).ps, 61 * kMs);
    EXPECT_EQ(expected_iteration(forecast, {{}, {}}).ps, 5 * kMs);
}

}  // namespace
}  // namespace astra::test
