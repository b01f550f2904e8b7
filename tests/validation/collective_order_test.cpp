// Ranks that come to their collectives in different order: what the traces say is joined, whatever
// the times, and a run ends if there is an order that all ranks can follow.
#include "system/transfer/policy.h"
#include "tests/validation/case_check.h"
#include "tests/validation/independent_collectives.h"

namespace astra::test {
namespace {

using testing::HasSubstr;
using testing::Not;

SimTime end_of(const RunResult& result, std::uint32_t rank, std::uint64_t id) {
    const auto op = std::find_if(result.ops.begin(), result.ops.end(), [&](const OpRecord& record) {
        return record.rank == RankId{rank} && record.node_id == id;
    });
    EXPECT_NE(op, result.ops.end());
    return op == result.ops.end() ? SimTime{} : op->end;
}

TraceNode on_cpu(TraceNode node) {
    node.on_cpu = true;
    return node;
}

// Node 3 hangs on the GPU, node 4 on the CPU; rank 0 comes to 3 after `first_us`, rank 1 after 100.
Experiment crossed(std::uint64_t first_bytes, std::uint64_t second_bytes) {
    Experiment experiment = on({connected(2)}, {});
    experiment.traces.clear();
    for (const std::uint64_t us : {10U, 100U}) {
        experiment.traces.push_back({compute(1, us),
                                     on_cpu(compute(2, 20)),
                                     collective(3, CollectiveKind::AllReduce, first_bytes, {1}),
                                     collective(4, CollectiveKind::AllReduce, second_bytes, {2})});
    }
    return experiment;
}

// Rank 1 could begin node 4 at 20 us. But rank 0 waits in node 3, so that 4 goes second on both:
// 100 us, then two all-reduces of two ranks, S bytes each: 2 · (500 ns + (S / 2) / 50 GiB/s).
TEST(CollectiveOrder, EqualSizesAreJoinedAsTheTracesSay) {
    const RunResult result = run_recording_ops(crossed(kMiB, kMiB));
    const std::uint64_t half = 500'000 + 9'765'625;  // ps
    EXPECT_EQ(end_of(result, 1, 3).ps, 100'000'000 + 2 * half);
    EXPECT_EQ(end_of(result, 1, 4).ps, 100'000'000 + 4 * half);
    EXPECT_GE(end_of(result, 0, 3).ps, 100'000'000U);
}

TEST(CollectiveOrder, DifferentSizesRun) {
    const ProgramRun program = run_captured(crossed(4 * kMiB, kMiB));
    EXPECT_EQ(program.status, 0) << program.error;
    EXPECT_THAT(program.error, HasSubstr("one order was taken for all: rank 1: node 4"));
}

// The names, not the ids or the times, say what belongs together.
TEST(CollectiveOrder, NamesSayWhatBelongsTogether) {
    Experiment experiment = crossed(kMiB, kMiB);
    for (Trace& trace : experiment.traces) {
        trace[2].name = "x";
        trace[3].name = "y";
    }
    std::swap(experiment.traces[1][2].name, experiment.traces[1][3].name);
    const ProgramRun program = run_captured(experiment);
    EXPECT_EQ(program.status, 0);
    EXPECT_THAT(program.error, HasSubstr("different order"));
    // Rank 0's x, node 3, with rank 1's, node 4, which comes after 20 us; y after 100 us.
    const RunResult result = run_recording_ops(experiment);
    EXPECT_LT(end_of(result, 0, 3).ps, 60'000'000U);
    EXPECT_GE(end_of(result, 0, 4).ps, 100'000'000U);
}

// Rank 1 waits in group b for rank 2, which is late, while rank 0 wants a with rank 1: one stream
// each. Nothing has to wait that could go on.
TEST(CollectiveOrder, AGroupThatIsFreeGoesAhead) {
    Experiment experiment = on({connected(4)}, {});
    experiment.groups = {{"a", {0, 1}}, {"b", {0, 2}}};
    const auto reduce =
        [](std::uint64_t id, std::vector<std::uint64_t> parents, const char* group) {
            return collective(id, CollectiveKind::AllReduce, kMiB, std::move(parents), group);
        };
    // Rank 0 comes to a at 5 us and to b, which is first in its trace and in which rank 2 waits
    // from the start, at 90 us.
    experiment.traces = {
        {compute(1, 90), on_cpu(compute(2, 5)), reduce(3, {1}, "b"), reduce(4, {2}, "a")},
        {reduce(1, {}, "a")},
        {reduce(1, {}, "b")},
        {}};
    const RunResult result = run_recording_ops(experiment);
    const std::uint64_t one = 2 * (500'000 + 9'765'625);
    EXPECT_EQ(end_of(result, 0, 4).ps, 5'000'000 + one);
    EXPECT_EQ(end_of(result, 0, 3).ps, 90'000'000 + one);
}

TEST(CollectiveOrder, CirclesAreFoundBeforeAnythingRuns) {
    Experiment experiment = on({ring(3)}, {});
    experiment.groups = {{"a", {0, 1}}, {"b", {1, 2}}, {"c", {0, 2}}};
    const auto trace = [](const char* first, const char* second) {
        return Trace{collective(1, CollectiveKind::AllReduce, kMiB, {}, first),
                     compute(2, 5, {1}),
                     collective(3, CollectiveKind::AllReduce, kMiB, {2}, second)};
    };
    experiment.traces = {trace("a", "c"), trace("b", "a"), trace("c", "b")};
    const ProgramRun program = run_captured(experiment, {"--check"});
    expect_failure(
        program, 3, {"3 ranks wait for each other", "group 'a'", "group 'b'", "group 'c'"});
    EXPECT_THAT(program.error, Not(HasSubstr(" ps")));
}

TEST(CollectiveOrder, SendsThatWaitForTheirReceivesMayCross) {
    Experiment experiment = on({ring(2)}, {});
    experiment.traces = {{send(1, 0, 1, 0, kMiB), receive(2, 1, 0, 0, kMiB, {1})},
                         {send(1, 1, 0, 0, kMiB), receive(2, 0, 1, 0, kMiB, {1})}};
    EXPECT_EQ(run_captured(experiment).status, 0);
    experiment.rendezvous = true;
    expect_failure(run_captured(experiment), 3, {"deadlock", "send of 1048576 B to rank 1"});
}

// Backward passes of two by two ranks: layers are split over 0, 1 and 2, 3, gradients are reduced
// over 0, 2 and 1, 3. The reduction of a layer's gradients comes first in the trace, but its
// activations go first in time.
Experiment hybrid_training(double deviation, std::uint64_t seed) {
    constexpr std::uint32_t kLayers = 24;
    Experiment experiment = on({connected(4)}, {});
    experiment.groups = {{"tp0", {0, 1}}, {"tp1", {2, 3}}, {"dp0", {0, 2}}, {"dp1", {1, 3}}};
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        Trace& trace = experiment.traces[rank];
        trace.clear();
        for (std::uint64_t layer = 0; layer < kLayers; ++layer) {
            const std::uint64_t id = 4 * layer + 1;
            trace.push_back(compute(id, 100));
            if (layer > 0) {
                trace.back().parents = {id - 1};
            }
            trace.push_back(compute(id + 1, 100, {id}));
            trace.push_back(collective(id + 2,
                                       CollectiveKind::AllReduce,
                                       4 * kMiB,
                                       {id + 1},
                                       rank % 2 == 0 ? "dp0" : "dp1"));
            trace.push_back(collective(
                id + 3, CollectiveKind::AllReduce, kMiB, {id}, rank < 2 ? "tp0" : "tp1"));
        }
    }
    experiment.settings = {fmt::format("system.compute_noise.deviation={}", deviation),
                           fmt::format("system.compute_noise.seed={}", seed)};
    return experiment;
}

// A rank that is a little ahead waits in the reduction of gradients; the others do not wait for it
// before they reduce their activations.
TEST(CollectiveOrder, ALittleNoiseCostsLittle) {
    const std::uint64_t in_step = run(hybrid_training(0, 1)).simulated.ps;
    for (const double deviation : {0.001, 0.01}) {
        for (std::uint64_t seed = 1; seed <= 10; ++seed) {
            const std::uint64_t noisy = run(hybrid_training(deviation, seed)).simulated.ps;
            EXPECT_LT(static_cast<double>(noisy), 1.02 * static_cast<double>(in_step))
                << deviation << ", seed " << seed;
        }
    }
}

// Training in which activations are gathered by the group that reduces the gradients: what a policy
// launches for all members at once is not taken for what a late member has yet to come to.
Experiment training_with_activations(std::uint64_t seed) {
    constexpr std::uint32_t kLayers = 3;
    Experiment experiment = on({switched(4)}, {});
    std::mt19937_64 random(seed);
    for (Trace& trace : experiment.traces) {
        std::uint64_t last = 0;
        const auto add = [&](TraceNode node, const std::string& name, bool in_chain) {
            node.id = trace.size() + 1;
            node.name = name;
            if (last > 0) {
                node.parents = {last};
            }
            last = in_chain ? node.id : last;
            trace.push_back(std::move(node));
        };
        const auto layer = [&](const std::string& pass, std::uint32_t i) {
            const std::string number = std::to_string(i);
            add(compute(0, 5 + random() % 50), pass + "_" + number, true);
            add(collective(0, CollectiveKind::AllGather, kMiB / 4), "gather_" + number, true);
            if (pass == "backward") {
                add(collective(0, CollectiveKind::AllReduce, kMiB), "all_reduce_" + number, false);
                TraceNode update = roofline_compute(0, 0, 0);
                update.id = trace.size() + 1;
                update.name = "update_" + number;
                update.parents = {trace.size()};
                trace.push_back(std::move(update));
            }
        };
        for (std::uint32_t i = 0; i < kLayers; ++i) {
            layer("forward", i);
        }
        for (std::uint32_t i = kLayers; i > 0; --i) {
            layer("backward", i - 1);
        }
    }
    experiment.settings = {"workload.iterations=3",
                           "system.compute_noise.deviation=0.3",
                           fmt::format("system.compute_noise.seed={}", seed)};
    return experiment;
}

TEST(CollectiveOrder, PoliciesLaunchBesideOtherCollectives) {
    for (const TransferPolicyInfo* policy : transfer_policies()) {
        for (std::uint64_t seed = 1; seed <= 5; ++seed) {
            SCOPED_TRACE(fmt::format("{}, seed {}", policy->name, seed));
            Experiment experiment = training_with_activations(seed);
            experiment.settings.push_back(fmt::format("system.transfers.policy={}", policy->name));
            RunResult result;
            ASSERT_NO_THROW(result = run(experiment));
            // 3 iterations of 3 gradients for 4 ranks, 6 gatherings, whatever is merged.
            Bytes reduced;
            for (const TransferRecord& transfer : result.transfers) {
                reduced = reduced + transfer.bytes;
            }
            EXPECT_EQ(reduced.count, 9 * kMiB);
            EXPECT_EQ(std::count_if(result.collectives.begin(),
                                    result.collectives.end(),
                                    [](const CollectiveRecord& record) {
                                        return record.kind == CollectiveKind::AllGather;
                                    }),
                      18);
        }
    }
}

TEST(CollectiveOrder, RandomSetsEndAndJoinAsTheTracesSay) {
    for (std::uint64_t seed = 0; seed < 60 && !testing::Test::HasFailure(); ++seed) {
        check_independent_collectives(seed);
    }
}

}  // namespace
}  // namespace astra::test
