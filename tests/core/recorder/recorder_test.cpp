#include "astra/core/recorder/recorder.h"

#include <vector>

#include <gtest/gtest.h>

namespace astra {
namespace {

class Kept final : public SpanSubscriber {
  public:
    void on_span(const Span& span) override { spans.push_back(span); }
    std::vector<Span> spans;
};

struct RecorderTest : testing::Test {
    // Runs `what` as an event at `at`.
    template <class F>
    void at(std::uint64_t ps, F what) {
        struct Once {
            F what;
            void run(std::uint64_t) { what(); }
        } once{what};
        queue.schedule_at({ps}, Callback::to<&Once::run>(once));
        queue.run();
    }
    Span op(std::uint32_t rank) const {
        Span span;
        span.kind = SpanKind::Op;
        span.rank = RankId{rank};
        return span;
    }
    EventQueue queue;
    Recorder recorder{queue};
    Kept kept;
};

TEST_F(RecorderTest, TellsWhatBeganAndEndedWhenAndBecauseOfWhat) {
    recorder.subscribe(kept);
    Cause first{};
    Cause second{};
    at(10, [&] { first = recorder.begin(op(3)); });
    at(25, [&] {
        recorder.end(first);
        const Recorder::Because because(&recorder, first);
        second = recorder.begin(op(4));
    });
    at(40, [&] {
        const Recorder::Because because(&recorder, first);
        recorder.end(second);
    });
    ASSERT_EQ(kept.spans.size(), 2U);
    EXPECT_EQ(kept.spans[0].rank, RankId{3});
    EXPECT_EQ(kept.spans[0].begin.ps, 10U);
    EXPECT_EQ(kept.spans[0].end.ps, 25U);
    EXPECT_EQ(kept.spans[0].cause, kNoCause);
    EXPECT_EQ(kept.spans[0].released, kNoCause);
    EXPECT_EQ(kept.spans[1].cause, first);
    EXPECT_EQ(kept.spans[1].released, first);
    EXPECT_EQ(kept.spans[1].begin.ps, 25U);
}

TEST_F(RecorderTest, ACauseHoldsForItsScopeAndItsEventAlone) {
    at(1, [&] {
        const Recorder::Because outer(&recorder, Cause{7});
        {
            const Recorder::Because inner(&recorder, Cause{8});
            EXPECT_EQ(recorder.current(), Cause{8});
        }
        EXPECT_EQ(recorder.current(), Cause{7});
    });
    EXPECT_EQ(recorder.current(), kNoCause);
    at(2, [&] { EXPECT_EQ(recorder.current(), kNoCause); });
}

TEST_F(RecorderTest, ASpanMayBeginLaterAndIsNeverReleasedByItself) {
    recorder.subscribe(kept);
    Cause message{};
    Span span = op(0);
    span.kind = SpanKind::Message;
    span.begin = {50};
    at(10, [&] { message = recorder.begin(span); });
    at(70, [&] {
        const Recorder::Because because(&recorder, message);
        recorder.end(message);
    });
    ASSERT_EQ(kept.spans.size(), 1U);
    EXPECT_EQ(kept.spans[0].begin.ps, 50U);
    EXPECT_EQ(kept.spans[0].end.ps, 70U);
    EXPECT_EQ(kept.spans[0].released, kNoCause);
}

TEST_F(RecorderTest, NumbersAreNeverUsedTwiceWhateverTheOrderOfTheEnds) {
    recorder.subscribe(kept);
    const Cause a = recorder.begin(op(0));
    const Cause b = recorder.begin(op(1));
    recorder.end(b);
    Span whole = op(2);
    whole.begin = {0};
    whole.end = {0};
    recorder.add(whole);
    const Cause c = recorder.begin(op(3));
    recorder.end(a);
    recorder.end(c);
    const Cause d = recorder.begin(op(4));
    EXPECT_EQ(index(a), 1U);
    EXPECT_EQ(index(b), 2U);
    EXPECT_EQ(index(c), 4U);
    EXPECT_EQ(index(d), 5U);
    ASSERT_EQ(kept.spans.size(), 4U);
    EXPECT_EQ(kept.spans[1].id, Cause{3});
    EXPECT_EQ(kept.spans[3].rank, RankId{3});
}

TEST_F(RecorderTest, OfNoRecorderACauseIsNothing) {
    const Recorder::Because because(nullptr, Cause{1});
}

}  // namespace
}  // namespace astra
