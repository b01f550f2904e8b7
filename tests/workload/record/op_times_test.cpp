#include "workload/record/op_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/core/event_queue.h"
#include "astra/core/recorder/recorder.h"

namespace astra {
namespace {

using testing::ElementsAre;

Span op_span(std::uint32_t rank, std::uint32_t op, std::uint64_t begin, std::uint64_t end) {
    Span span;
    span.kind = SpanKind::Op;
    span.rank = RankId{rank};
    span.op = op;
    span.begin = {begin};
    span.end = {end};
    return span;
}

// The ops of rank 3 end as 2, 0, 1; ops 0 and 1 begin together, and 0 ends first.
TEST(OpTimes, OrderOpsByTheirStartAndThenByTheirEnd) {
    OpTimes times;
    times.on_span(op_span(3, 2, 10, 20));
    times.on_span(op_span(1, 0, 7, 21));
    times.on_span(op_span(3, 0, 5, 30));
    times.on_span(op_span(3, 1, 5, 40));
    EXPECT_THAT(times.by_start(RankId{3}), ElementsAre(0U, 1U, 2U));
    EXPECT_THAT(times.by_start(RankId{1}), ElementsAre(0U));
    EXPECT_THAT(times.by_start(RankId{2}), ElementsAre());
    EXPECT_THAT(times.by_start(RankId{9}), ElementsAre());
    EXPECT_THAT(times.starts(RankId{3}, 4),
                ElementsAre(SimTime{5}, SimTime{5}, SimTime{10}, SimTime{0}));
}

TEST(OpTimes, KeepOpsAlone) {
    const EventQueue queue;
    Recorder recorder(queue);
    OpTimes times;
    recorder.subscribe(times);
    Span phase = op_span(0, 0, 1, 2);
    phase.kind = SpanKind::Phase;
    recorder.add(phase);
    EXPECT_THAT(times.by_start(RankId{0}), ElementsAre());
    recorder.add(op_span(0, 4, 1, 2));
    EXPECT_THAT(times.by_start(RankId{0}), ElementsAre(4U));
}

}  // namespace
}  // namespace astra
