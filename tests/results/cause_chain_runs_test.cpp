// Who waited for whom, in whole runs.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "astra/core/recorder/cause_chain.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

// Keeps the ops' names and the waiting beside the chain.
class Watch final : public SpanSubscriber {
  public:
    void on_span(const Span& span) override {
        chain.on_span(span);
        if (span.kind == SpanKind::Waiting) {
            waiting.push_back(span);
        } else if (span.kind == SpanKind::Op) {
            ops.push_back(span);
        } else if (span.kind == SpanKind::Phase) {
            phases.push_back(span);
        } else if (span.kind == SpanKind::Message) {
            messages.push_back(span);
        }
    }
    const Span& op_of_node(std::uint64_t node) const {
        return *std::find_if(
            ops.begin(), ops.end(), [&](const Span& span) { return span.number == node; });
    }
    const Span& phase_of_rank(std::uint32_t rank) const {
        return *std::find_if(phases.begin(), phases.end(), [&](const Span& span) {
            return span.rank == RankId{rank};
        });
    }
    const Span* op(Cause id) const {
        for (const Span& span : ops) {
            if (span.id == id) {
                return &span;
            }
        }
        return nullptr;
    }

    CauseChain chain;
    std::vector<Span> waiting;
    std::vector<Span> ops;
    std::vector<Span> phases;
    std::vector<Span> messages;
};

void expect_covers(const std::vector<CauseStep>& steps, SimTime end) {
    ASSERT_FALSE(steps.empty());
    EXPECT_EQ(steps.front().from.ps, 0U);
    EXPECT_EQ(steps.back().to, end);
    for (std::size_t i = 1; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i].from, steps[i - 1].to) << i;
    }
}

std::uint64_t time_on(const std::vector<CauseStep>& steps, SpanKind kind, std::uint32_t rank) {
    std::uint64_t ps = 0;
    for (const CauseStep& step : steps) {
        if (step.kind == kind && step.rank == RankId{rank}) {
            ps += (step.to - step.from).ps;
        }
    }
    return ps;
}

// Every rank computes 10 us before an all-reduce, rank 5 computes 900 us.
Experiment with_straggler(const std::string& backend) {
    Experiment experiment;
    experiment.backend = backend;
    for (std::uint32_t rank = 0; rank < experiment.ranks(); ++rank) {
        experiment.traces.push_back({compute(1, rank == 5 ? 900 : 10),
                                     collective(2, CollectiveKind::AllReduce, 1 << 20, {1}),
                                     compute(3, 20, {2})});
    }
    return experiment;
}

// An eighth of a MiB at 50 GB/s, in packets of 4 KiB with a header of 64 B.
constexpr std::uint64_t kMessagePs = (std::uint64_t{1} << 17U) * 20U * (4096U + 64U) / 4096U;

constexpr std::uint64_t kHandlingPs = 100'000;  // more than the endpoint delays of a step

class Straggler : public testing::TestWithParam<const char*> {};

// Whatever rank ends last: its chain begins with the 900 us that rank 5 computed, then only the
// ring's messages follow, at most one that the rank itself sends after its last receive, and its
// own last 20 us.
TEST_P(Straggler, IsFoundFromAnyRank) {
    Watch watch;
    const RunResult result = run(with_straggler(GetParam()), watch);
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
        const auto steps = watch.chain.back_from(watch.chain.last_op(RankId{rank}));
        expect_covers(steps, rank_record(result, rank).finish);
        EXPECT_EQ(steps.front().kind, SpanKind::Op);
        EXPECT_EQ(steps.front().rank, RankId{5}) << rank;
        EXPECT_EQ((steps.front().to - steps.front().from).ps, 900'000'000U);
        const std::uint64_t own =
            time_on(steps, SpanKind::Op, rank) - (rank == 5 ? 900'000'000U : 0U);
        EXPECT_GE(own, 20'000'000U);
        EXPECT_LE(own, 20'000'000U + kMessagePs + kHandlingPs) << rank;
    }
}

// From 10 us to 900 us seven ranks wait, all for rank 5.
TEST_P(Straggler, IsWhomTheOthersWaitFor) {
    Watch watch;
    run(with_straggler(GetParam()), watch);
    ASSERT_EQ(watch.waiting.size(), 7U);
    for (const Span& span : watch.waiting) {
        EXPECT_EQ(span.peer, RankId{5});
        EXPECT_NE(span.rank, RankId{5});
        EXPECT_EQ(span.begin.ps, 10'000'000U);
        EXPECT_EQ(span.end.ps, 900'000'000U);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Backends,
    Straggler,
    testing::Values("congestion_unaware", "congestion_aware", "flow", "packet"),
    [](const auto& param) { return std::string(param.param); });

// Rank 0 computes 100 us and sends to 1, which computes 30 us of its own before it receives; rank 2
// receives from 1 what that sends after 50 us more. The critical path of rank 2 is 100 us on rank
// 0, a message, 50 us on rank 1, a message.
TEST(CauseChainOfRun, FollowsSendsAndReceives) {
    Experiment experiment;
    experiment.dimensions[0].ranks = 3;
    experiment.traces = {
        {compute(1, 100), send(2, 0, 1, 0, 4096, {1})},
        {compute(1, 30),
         receive(2, 0, 1, 0, 4096, {1}),
         compute(3, 50, {2}),
         send(4, 1, 2, 0, 4096, {3})},
        {receive(1, 1, 2, 0, 4096)},
    };
    Watch watch;
    const RunResult result = run(experiment, watch);
    const auto steps = watch.chain.back_from(watch.chain.last_op(RankId{2}));
    expect_covers(steps, rank_record(result, 2).finish);
    EXPECT_EQ(time_on(steps, SpanKind::Op, 0), 100'000'000U);
    EXPECT_EQ(time_on(steps, SpanKind::Op, 1), 50'000'000U);
    EXPECT_EQ(time_on(steps, SpanKind::Op, 2), 0U);
    // 1 waits for 0 from 30 us to 100 us; 2 for 1 from the start until 1 sends.
    ASSERT_EQ(watch.waiting.size(), 2U);
    EXPECT_EQ(watch.waiting[0].rank, RankId{1});
    EXPECT_EQ(watch.waiting[0].peer, RankId{0});
    EXPECT_EQ(watch.waiting[0].begin.ps, 30'000'000U);
    EXPECT_EQ(watch.waiting[0].end.ps, 100'000'000U);
    EXPECT_EQ(watch.waiting[1].rank, RankId{2});
    EXPECT_EQ(watch.waiting[1].peer, RankId{1});
    EXPECT_EQ(watch.waiting[1].begin.ps, 0U);
}

// Rank 0 receives from itself from the start on, and sends after 100 us of computation: no network
// is between them, and the receive is released by the send all the same.
TEST(CauseChainOfRun, PassesThroughWhatARankSendsToItself) {
    for (const bool rendezvous : {false, true}) {
        Experiment experiment;
        experiment.dimensions[0].ranks = 2;
        experiment.rendezvous = rendezvous;
        experiment.traces = {{receive(1, 0, 0, 0, 4096),
                              compute(2, 100),
                              send(3, 0, 0, 0, 4096, {2}),
                              compute(4, 20, {1})},
                             {compute(5, 1)}};
        Watch watch;
        run(experiment, watch);
        EXPECT_EQ(watch.op_of_node(4).begin.ps, 100'000'000U);
        EXPECT_EQ(watch.op_of_node(1).released, watch.op_of_node(3).id) << rendezvous;
    }
}

// Rank 1 has 4096 B for rank 0, rank 0 nothing for rank 1, which does not know that: what ends its
// phase is that rank 0, after 100 us of computation, takes part.
TEST(CauseChainOfRun, PassesThroughAMessageWithoutBytes) {
    Experiment experiment;
    experiment.dimensions[0].ranks = 2;
    experiment.algorithms = {"direct"};
    const auto exchange = [](std::vector<std::uint64_t> sends) {
        TraceNode node = collective(2, CollectiveKind::AllToAll, sends[0] + sends[1], {1});
        node.pair_sends = std::move(sends);
        return node;
    };
    experiment.traces = {{compute(1, 100), exchange({4096, 0})},
                         {compute(1, 1), exchange({4096, 0})}};
    Watch watch;
    run(experiment, watch);
    ASSERT_EQ(watch.messages.size(), 1U);
    ASSERT_EQ(watch.phases.size(), 2U);
    EXPECT_EQ(watch.phase_of_rank(1).released, watch.phase_of_rank(0).id);
}

// Flow 2 waits for flow 1 and for its own start, 5 us, when that has long been received.
TEST(CauseChainOfRun, PassesThroughAFlowThatWaitsForItsStart) {
    const ScratchFolder folder;
    folder.write("flows.txt", "1 0 1 1000 0\n2 1 0 1000 1 5us\n");
    Recording recording;
    recording.timeline = true;
    Simulation simulation(Study::from_file(folder.write("study.yml", R"(
workload: {flows: flows.txt}
network:
  dimensions: [{topology: switch, ranks: 2, bandwidth: 10GB/s, latency: 100ns}]
)")),
                          recording);
    Watch watch;
    simulation.subscribe(watch);
    simulation.run({});
    ASSERT_EQ(watch.messages.size(), 2U);
    EXPECT_EQ(watch.messages[1].begin.ps, 5'000'000U);
    EXPECT_LT(watch.messages[0].end.ps, 5'000'000U);
    EXPECT_EQ(watch.messages[1].cause, watch.messages[0].id);
}

// Under rendezvous too the chain reaches back to the start.
TEST(CauseChainOfRun, CoversARunUnderRendezvous) {
    Experiment experiment = with_straggler("flow");
    experiment.rendezvous = true;
    Watch watch;
    const RunResult result = run(experiment, watch);
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
        expect_covers(watch.chain.back_from(watch.chain.last_op(RankId{rank})),
                      rank_record(result, rank).finish);
    }
}

}  // namespace
}  // namespace astra::test
