#include "astra/core/recorder/cause_chain.h"

#include <gtest/gtest.h>

namespace astra {
namespace {

// Spans as a recorder would tell them.
struct Told {
    CauseChain chain;
    std::uint32_t numbers = 0;

    Cause number() { return Cause{++numbers}; }
    void tell(SpanKind kind,
              Cause id,
              std::uint32_t rank,
              std::uint64_t begin,
              std::uint64_t end,
              Cause cause = kNoCause,
              Cause released = kNoCause) {
        Span span;
        span.kind = kind;
        span.id = id;
        span.rank = RankId{rank};
        span.begin = {begin};
        span.end = {end};
        span.cause = cause;
        span.released = released;
        chain.on_span(span);
    }
};

void expect_covers(const std::vector<CauseStep>& steps, std::uint64_t from, std::uint64_t to) {
    ASSERT_FALSE(steps.empty());
    EXPECT_EQ(steps.front().from.ps, from);
    EXPECT_EQ(steps.back().to.ps, to);
    for (std::size_t i = 1; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i].from, steps[i - 1].to) << i;
    }
}

// Rank 0 receives from rank 1, which computes for 100 before it sends: rank 0 is ready at 10. The
// message takes from 105 (an endpoint delay of 5) to 130; a computation of 20 follows.
TEST(CauseChain, AReceiveWaitsForTheComputationOfItsSender) {
    Told told;
    const Cause idle = told.number();
    const Cause busy = told.number();
    const Cause receive = told.number();
    const Cause send = told.number();
    const Cause message = told.number();
    const Cause after = told.number();
    told.tell(SpanKind::Op, idle, 0, 0, 10);
    told.tell(SpanKind::Op, busy, 1, 0, 100);
    told.tell(SpanKind::Message, message, 1, 105, 130, send);
    told.tell(SpanKind::Op, send, 1, 100, 130, busy, message);
    told.tell(SpanKind::Op, receive, 0, 10, 130, idle, message);
    told.tell(SpanKind::Op, after, 0, 130, 150, receive);
    const auto steps = told.chain.back_from(told.chain.last_op(RankId{0}));
    expect_covers(steps, 0, 150);
    ASSERT_EQ(steps.size(), 5U);
    EXPECT_EQ(steps[0].span, busy);
    EXPECT_EQ(steps[1].span, send);
    EXPECT_EQ(steps[1].to.ps, 105U);
    EXPECT_EQ(steps[2].span, message);
    EXPECT_EQ(steps[3].span, receive);  // no time of its own
    EXPECT_EQ(steps[3].from, steps[3].to);
    EXPECT_EQ(steps[4].span, after);
}

// Three ranks in a ring: rank 2 comes late, at 1000; its first message goes to 0, whose next goes
// to 1, which is the last to finish. The way back from rank 1 leads to the computation of rank 2.
TEST(CauseChain, TheLastOfARingWaitedForTheStraggler) {
    Told told;
    const Cause late = told.number();
    Cause ops[3];
    Cause phases[3];
    for (Cause& op : ops) {
        op = told.number();
    }
    for (Cause& phase : phases) {
        phase = told.number();
    }
    const Cause first = told.number();
    const Cause second = told.number();
    told.tell(SpanKind::Op, late, 2, 0, 1000);
    told.tell(SpanKind::Message, first, 2, 1001, 1100, phases[2]);
    told.tell(SpanKind::Message, second, 0, 1110, 1200, first);
    told.tell(SpanKind::Phase, phases[1], 1, 0, 1210, ops[1], second);
    told.tell(SpanKind::Phase, phases[2], 2, 1000, 1150, ops[2]);
    told.tell(SpanKind::Op, ops[2], 2, 1000, 1150, late, phases[2]);
    told.tell(SpanKind::Op, ops[1], 1, 0, 1210, kNoCause, phases[1]);
    const auto steps = told.chain.back_from(told.chain.last_op(RankId{1}));
    expect_covers(steps, 0, 1210);
    EXPECT_EQ(steps.front().span, late);
    EXPECT_EQ(steps.front().rank, RankId{2});
    EXPECT_EQ(steps.front().to.ps, 1000U);
    EXPECT_EQ(told.chain.last_op(), ops[1]);
}

TEST(CauseChain, KnowsNothingOfWhatWasNotTold) {
    const CauseChain chain;
    EXPECT_TRUE(chain.back_from(Cause{3}).empty());
    EXPECT_EQ(chain.last_op(RankId{5}), kNoCause);
}

}  // namespace
}  // namespace astra
