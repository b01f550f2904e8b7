#include "workload/training/training.h"

#include <gmock/gmock.h>

#include "astra/config/config_view.h"
#include "tests/workload/training/training_traces.h"
#include "workload/generate/generator.h"
#include "workload/training/window_report.h"

namespace astra::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t kUs = 1'000'000;

Workload two_layers(std::uint32_t iterations = 1) {
    Warnings warnings;
    return generate_workload(
        "training", {{"layers", "2"}, {"iterations", std::to_string(iterations)}}, 4, warnings);
}

TrainingReport prepare(Workload& workload,
                       const TrainingOptions& options,
                       const PolicyTraits& policy = {}) {
    Warnings warnings;
    TrainingReport report = prepare_training(workload, options, policy, {}, warnings);
    EXPECT_THAT(warnings.texts(), IsEmpty());
    return report;
}

std::string failure(Workload workload,
                    const TrainingOptions& options,
                    const PolicyTraits& policy = {}) {
    try {
        prepare(workload, options, policy);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

// Forward 0: 0-100 us, forward 1: 100-200, backward 1: 200-400, backward 0: 400-600; the next
// iteration's forward 0 at 600, forward 1 at 700. The gradient of layer 1 is ready at 400 and read
// at 700, that of layer 0 ready and read at 600.
TEST(Windows, OfTwoLayersWithoutABarrier) {
    Workload workload = two_layers();
    const TrainingReport report = prepare(workload, {.iterations = 3, .barrier = false});
    EXPECT_EQ(report.recorded_iterations, 1U);
    EXPECT_EQ(report.iterations, 3U);
    EXPECT_EQ(workload.iterations, 3U);
    EXPECT_EQ(report.iteration.ps, 600 * kUs);
    ASSERT_EQ(report.windows.size(), 2U);
    const TransferWindow& one = report.windows[0];
    EXPECT_EQ(one.name, "all_reduce_1");
    EXPECT_EQ(one.parameter, "1");
    EXPECT_EQ(one.made_by, "backward_1");
    EXPECT_EQ(one.read_by, "forward_1");
    EXPECT_EQ(one.start.ps, 400 * kUs);
    EXPECT_EQ(one.end.ps, 700 * kUs);
    const TransferWindow& zero = report.windows[1];
    EXPECT_EQ(zero.name, "all_reduce_0");
    EXPECT_EQ(zero.start.ps, 600 * kUs);
    EXPECT_EQ(zero.end.ps, 600 * kUs);

    ASSERT_EQ(workload.forecasts.size(), 1U);
    const GroupForecast& forecast = workload.forecasts[0];
    EXPECT_EQ(forecast.iteration.ps, 600 * kUs);
    ASSERT_EQ(forecast.transfers.size(), 2U);
    EXPECT_EQ(forecast.transfers[0].ready.ps, 400 * kUs);
    EXPECT_EQ(forecast.transfers[0].needed.ps, 700 * kUs);
    EXPECT_EQ(forecast.transfers[0].priority, 1U);
    EXPECT_EQ(forecast.transfers[1].priority, 0U);
    EXPECT_EQ(forecast.transfers[1].bytes.count, 4U << 20U);
}

// With a barrier every window ends at 600 us; the order of the readers stays.
TEST(Windows, EndWithTheIterationAtABarrier) {
    Workload workload = two_layers();
    const TrainingReport report = prepare(workload, {.iterations = 2});  // as the policy says
    EXPECT_TRUE(report.barrier);
    const GroupForecast& forecast = workload.forecasts[0];
    EXPECT_EQ(forecast.transfers[0].needed.ps, 600 * kUs);
    EXPECT_EQ(forecast.transfers[1].needed.ps, 600 * kUs);
    EXPECT_EQ(forecast.transfers[0].priority, 1U);
}

// Two streams of layers would not change the numbers: the analysis is of the trace's durations.
TEST(Windows, AreTheSameOnTheOneIterationThatIsReplayed) {
    Workload unrolled = two_layers();
    Workload single = two_layers();
    prepare(unrolled, {.iterations = 3, .barrier = false});
    prepare(single, {.barrier = false});
    EXPECT_EQ(single.iterations, 1U);
    EXPECT_EQ(single.ranks[0].graph->size(), 8U);
    ASSERT_EQ(single.forecasts.size(), 1U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(single.forecasts[0].transfers[i].needed,
                  unrolled.forecasts[0].transfers[i].needed);
    }
}

// The generator's iterations: the same ops, the same dependencies.
TEST(Unroll, IsAsGeneratedWithSeveralIterations) {
    Workload unrolled = two_layers();
    prepare(unrolled, {.iterations = 3, .barrier = false});
    const Workload generated = two_layers(3);
    const ExecutionGraph& a = *unrolled.ranks[0].graph;
    const ExecutionGraph& b = *generated.ranks[0].graph;
    EXPECT_EQ(a.kind, b.kind);
    EXPECT_EQ(a.duration_ps, b.duration_ps);
    EXPECT_EQ(edges_by_name(a), edges_by_name(b));
    EXPECT_EQ(a.child, b.child);
    EXPECT_THAT(a.iteration, testing::SizeIs(24));
    EXPECT_EQ(a.iteration[7], 0U);
    EXPECT_EQ(a.iteration[8], 1U);
    EXPECT_TRUE(std::is_sorted(a.node_id.begin(), a.node_id.end()));
    EXPECT_EQ(unrolled.ranks[0].graph, unrolled.ranks[3].graph);
}

// Each transfer of each iteration has its number among the gradients.
TEST(Unroll, NumbersTransfersAlikeInEveryIteration) {
    Workload workload = two_layers();
    prepare(workload, {.iterations = 3});
    const ExecutionGraph& graph = *workload.ranks[0].graph;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        if (graph.kind[op] == OpKind::Collective) {
            const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
            found.emplace_back(detail.iteration, detail.transfer);
        }
    }
    using Pair = std::pair<std::uint32_t, std::uint32_t>;
    EXPECT_THAT(
        found, ElementsAre(Pair{0, 0}, Pair{0, 1}, Pair{1, 0}, Pair{1, 1}, Pair{2, 0}, Pair{2, 1}));
}

// All that an iteration ends with before all that the next begins with: here two updates, one
// forward op.
TEST(Unroll, WaitsForEverythingAtABarrier) {
    Workload workload = two_layers();
    prepare(workload, {.iterations = 2, .barrier = true});
    EXPECT_THAT(edges_by_name(*workload.ranks[0].graph),
                testing::IsSupersetOf({"update_0 > forward_0", "update_1 > forward_0"}));
}

TEST(Iterations, AreFoundByRepetition) {
    Workload workload = two_layers(3);
    const TrainingReport report = prepare(workload, {});
    EXPECT_EQ(report.recorded_iterations, 3U);
    EXPECT_EQ(report.told_apart, "the same 8 ops are repeated");
    EXPECT_EQ(workload.ranks[0].graph->size(), 24U);  // as recorded
    EXPECT_EQ(workload.forecasts[0].transfers[0].needed.ps, 700 * kUs);
    Workload fenced = two_layers(3);
    prepare(fenced, {}, {.queues = true, .barrier = true});
    EXPECT_EQ(fenced.forecasts[0].transfers[0].needed.ps, 600 * kUs);
    EXPECT_THAT(edges_by_name(*fenced.ranks[0].graph),
                testing::Contains("update_1 > forward_0").Times(2));
}

std::string profiled(std::uint64_t first_id, const std::string& step, std::uint64_t parent) {
    const std::vector<std::uint64_t> parents =
        parent == 0 ? std::vector<std::uint64_t>{} : std::vector<std::uint64_t>{parent};
    return instant(first_id, step, parents) +
           computation(first_id + 1, "forward_a", first_id % 3 + 1, {first_id}) +
           computation(first_id + 2, "backward_a", 2, {first_id + 1}) +
           reduction(first_id + 3, "all_reduce_a", 1000, {first_id + 2});
}

TEST(Iterations, AreFoundByMarkers) {
    Workload workload = same_trace(profiled(1, "ProfilerStep#7", 0) +
                                   profiled(5, "ProfilerStep#8", 4) + instant(9, "the end"));
    const TrainingReport report = prepare(workload, {});
    EXPECT_EQ(report.recorded_iterations, 2U);
    EXPECT_EQ(report.told_apart, "each begins with an op like 'ProfilerStep#7'");
    EXPECT_THAT(workload.ranks[0].graph->iteration, ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 1));
}

TEST(Iterations, EndWithANamedBarrier) {
    const std::string nodes = profiled(1, "a", 0) + instant(5, "step", {4}) + profiled(6, "a", 5) +
                              instant(10, "step", {9});
    Workload workload = same_trace(nodes);
    EXPECT_EQ(prepare(workload, {.barrier = false, .barrier_op = "step"}).recorded_iterations, 2U);
    EXPECT_THAT(failure(same_trace(nodes), {.barrier_op = "stop"}),
                HasSubstr("no op is called 'stop', which is to end an iteration; did you mean "
                          "'step'?"));
}

// The next iteration waits for the op of that name beside its parameters.
TEST(Iterations, WaitForANamedBarrier) {
    Workload workload =
        same_trace(computation(1, "forward_a", 1) + computation(2, "backward_a", 2, {1}) +
                   reduction(3, "all_reduce_a", 8, {2}) + instant(4, "update_a", {3}) +
                   instant(5, "done", {4}));
    prepare(workload, {.iterations = 2, .barrier = false, .barrier_op = "done"});
    EXPECT_THAT(edges_by_name(*workload.ranks[0].graph), testing::Contains("done > forward_a"));
}

TEST(Iterations, RefusesWhatMakesNoSense) {
    EXPECT_EQ(failure(two_layers(3), {.iterations = 2}),
              "iterations: the trace has 3 iterations already (the same 8 ops are repeated); only "
              "one can be unrolled");
    EXPECT_EQ(failure(two_layers(), {.iterations = 100'000'000}),
              "iterations: 100000000 iterations are 800000000 ops of all distinct traces together; "
              "at most 134217728");
}

TEST(Parameters, AreNotThereWithoutAllReduces) {
    Warnings warnings;
    Workload workload =
        generate_workload("collective", {{"collective", "all_gather"}}, 4, warnings);
    EXPECT_TRUE(prepare(workload, {.iterations = 2}).windows.empty());
    EXPECT_EQ(workload.iterations, 0U);
    EXPECT_THAT(
        why_no_transfers(workload),
        HasSubstr("by all_reduce or reduce_scatter, and the traces hold none (4 all_gather)"));
}

// Activations of tensor parallelism: a computation of the model waits for the all-reduce.
TEST(Parameters, AreNotActivations) {
    Workload workload =
        same_trace(computation(1, "forward_a", 1) + reduction(2, "all_reduce_act", 64, {1}) +
                   computation(3, "forward_b", 1, {2}) + computation(4, "backward_b", 1, {3}) +
                   reduction(5, "all_reduce_b", 8, {4}) + computation(6, "backward_a", 1, {4}) +
                   reduction(7, "all_reduce_a", 8, {6}));
    const TrainingReport report = prepare(workload, {});
    EXPECT_EQ(report.windows.size(), 2U);
    EXPECT_EQ(report.other_collectives, 1U);
    EXPECT_EQ(report.without_update, 2U);
}

// Names that say nothing: a collective that leads, by a computation, to another one is none of
// gradients; a chain of two is.
TEST(Parameters, AreFoundByDependencies) {
    Workload workload = same_trace(computation(1, "x1", 1) + reduction(2, "c1", 64, {1}) +
                                   computation(3, "x2", 1, {2}) + reduction(4, "c2", 8, {3}) +
                                   reduction(5, "c3", 8, {4}) + computation(6, "x3", 1, {5}));
    const TrainingReport report = prepare(workload, {.barrier = false});
    ASSERT_EQ(report.windows.size(), 2U);
    EXPECT_EQ(report.windows[0].name, "c2");
    EXPECT_EQ(report.windows[1].name, "c3");
    EXPECT_EQ(report.readers_unknown, 2U);
    EXPECT_THAT(report.without_reader, ElementsAre("c2", "c3"));
    // x3 is their update, and whoever reads it begins the next iteration: 3 ms.
    EXPECT_EQ(report.iteration.ps, 3 * kMs);
    EXPECT_EQ(report.windows[0].start.ps, 2 * kMs);
    EXPECT_EQ(report.windows[0].end.ps, 3 * kMs);
}

// What is reduced and scattered is a transfer too; but not both in one group: that of more bytes.
TEST(Parameters, AreOfOneKindInAGroup) {
    Workload workload =
        same_trace(computation(1, "forward_a", 1) + computation(2, "backward_a", 1, {1}) +
                   reduction(3, "all_reduce_a", 64, {2}, 7) + reduction(4, "all_reduce_b", 8, {2}));
    Warnings warnings;
    const TrainingReport report = prepare_training(workload, {}, {}, {}, warnings);
    ASSERT_EQ(report.windows.size(), 1U);
    EXPECT_EQ(report.windows[0].kind, CollectiveKind::ReduceScatter);
    EXPECT_THAT(warnings.texts(),
                ElementsAre("rank 0: gradients of group '0' are reduced by all_reduce and by "
                            "reduce_scatter: only those of the most bytes are transfers, the "
                            "others run as recorded"));
    const ExecutionGraph& graph = *workload.ranks[0].graph;
    EXPECT_EQ(graph.collectives[0].transfer, 0U);
    EXPECT_EQ(graph.collectives[1].transfer, kNoTransfer);
}

TEST(TrainingRules, MatchCommonNames) {
    const TrainingRules rules;
    const auto is = [&](const char* name, TrainingRole role, const std::string& parameter) {
        const NameMeaning meaning = rules.meaning(name);
        EXPECT_EQ(meaning.role, role) << name;
        EXPECT_EQ(meaning.parameter, parameter) << name;
    };
    is("all_reduce_conv1", TrainingRole::Gradient, "conv1");
    is("COMM_COLL_NODE_fc_ALLREDUCE", TrainingRole::Gradient, "fc");
    is("COMP_NODE_fc_BWD_WG", TrainingRole::Backward, "fc");
    is("COMP_NODE_fc_FWD", TrainingRole::Forward, "fc");
    is("mb3.transformer.12._sharded_grad@0_X1COMM", TrainingRole::Gradient, "transformer.12");
    is("in_emb.w@1_X2_COMM", TrainingRole::Gradient, "in_emb");
    is("transformer.1._sharded_weight@1_COMP", TrainingRole::Update, "transformer.1");
    is("mb0.transformer.0.mha.attn_kernel.qkv@0_COMP", TrainingRole::Forward, "transformer.0");
    is("mb0.transformer.0.mha.o@0_X1COMM", TrainingRole::Forward, "transformer.0");
    is("mb0.transformer.0.ffn.dwdown@0_COMP", TrainingRole::Backward, "transformer.0");
    is("mb0.transformer.0._assembled_weight@0_X1COMM", TrainingRole::Forward, "transformer.0");
    is("ncclDevKernel_AllReduce_Sum_f32_RING_LL", TrainingRole::Gradient, "");
    is("nccl:reduce_scatter", TrainingRole::Gradient, "");
    is("Optimizer.step#SGD.step", TrainingRole::Update, "");
    is("autograd::engine::evaluate_function: AddmmBackward0", TrainingRole::Backward, "");
    is("ProfilerStep#12", TrainingRole::Iteration, "");
    is("aten::addmm", TrainingRole::None, "");
}

std::string rule_failure(const std::string& text) {
    const Folder folder;
    folder.write("rules.yml", text);
    try {
        TrainingRules::from_file(folder.file("rules.yml"));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(TrainingRules, SayWhatIsWrongWithAFile) {
    EXPECT_EQ(rule_failure("gradients: ['^reduce_(.+)$']\n"), "");
    EXPECT_THAT(rule_failure("gradients:\n  - 'a('\n"),
                testing::AllOf(HasSubstr("rules.yml:2:"),
                               HasSubstr("'a(' is not a regular expression of RE2")));
    EXPECT_THAT(rule_failure("gradients: ['((a{500}){500}){500}']\n"),
                HasSubstr("is not a regular expression of RE2"));
    EXPECT_THAT(rule_failure("forward: ['(a)(b)']\n"), HasSubstr("has 2 groups; at most one"));
    EXPECT_THAT(rule_failure("foward: ['a']\n"), HasSubstr("did you mean 'forward'?"));
    EXPECT_THAT(rule_failure("forward: ['']\n"), HasSubstr("regular expression of 1 to 1024"));
    EXPECT_THAT(rule_failure("forward: []\n"), HasSubstr("holds no rule"));
}

// Expressions that take a backtracking matcher for ever.
TEST(TrainingRules, AreLinear) {
    const Folder folder;
    folder.write("rules.yml", "forward: ['^(?:a+)+$', '^(?:a|aa)+$', '(?:.*,){20}x']\n");
    const TrainingRules rules = TrainingRules::from_file(folder.file("rules.yml"));
    EXPECT_EQ(rules.meaning(std::string(200, 'a') + "!").role, TrainingRole::None);
    EXPECT_EQ(rules.meaning(std::string(200, ',')).role, TrainingRole::None);
    EXPECT_EQ(rules.meaning(std::string(200, 'a')).role, TrainingRole::Forward);
}

TEST(WindowReport, IsATableAndAPicture) {
    Workload workload = two_layers();
    TrainingReport report = prepare(workload, {.barrier = false});
    report.windows[0].cost = Duration{50 * kUs};
    EXPECT_THAT(windows_csv(report),
                HasSubstr("0,\"0\",0,\"all_reduce_1\",\"1\",all_reduce,4194304,\"backward_1\","
                          "\"forward_1\",400000000,700000000,300000000,50000000,250000000\n"));
    EXPECT_THAT(describe_training(report, 1), HasSubstr("and 1 more"));
    EXPECT_THAT(windows_svg(report), HasSubstr("<svg"));
}

}  // namespace
}  // namespace astra::test
