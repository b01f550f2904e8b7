// Running an event queue up to a limit.
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "astra/core/event_queue.h"
#include "tests/core/event_recorder.h"

namespace astra {
namespace {

TEST(EventQueueRunUntilTest, RunUntilIncludesTheLimitAndNeverPassesIt) {
    EventQueue queue;
    Recorder recorder(queue, no_children);
    for (const std::uint64_t when_ps : {10U, 20U, 20U, 21U, 1'000'000U}) {
        recorder.schedule(when_ps);
    }
    EXPECT_TRUE(queue.run_until({9}));
    EXPECT_EQ(queue.executed(), 0U);
    EXPECT_LE(queue.now().ps, 9U);
    EXPECT_TRUE(queue.run_until({20}));
    EXPECT_EQ(queue.executed(), 3U);
    EXPECT_EQ(queue.now().ps, 20U);
    EXPECT_EQ(queue.size(), 2U);
    EXPECT_TRUE(queue.run_until({999'999}));
    EXPECT_EQ(queue.now().ps, 21U);
    EXPECT_FALSE(queue.run_until({1'000'000}));
    EXPECT_EQ(queue.executed(), 5U);
    EXPECT_TRUE(queue.empty());
}

TEST(EventQueueRunUntilTest, RunUntilStopsAfterTheGivenNumberOfEvents) {
    EventQueue queue;
    Recorder recorder(queue, no_children);
    for (std::uint64_t i = 0; i < 10; ++i) {
        recorder.schedule(5);
    }
    EXPECT_TRUE(queue.run_until({kMaxPs}, 0));
    EXPECT_EQ(queue.executed(), 0U);
    EXPECT_TRUE(queue.run_until({kMaxPs}, 4));
    EXPECT_EQ(queue.executed(), 4U);
    EXPECT_EQ(queue.size(), 6U);
    EXPECT_FALSE(queue.run_until({kMaxPs}, 6));
    EXPECT_EQ(queue.executed(), 10U);
    expect_equal(recorder.runs(),
                 {{5, 0}, {5, 1}, {5, 2}, {5, 3}, {5, 4}, {5, 5}, {5, 6}, {5, 7}, {5, 8}, {5, 9}});
}

// Between two calls of run_until the caller may schedule from now() on, also before the events that
// the queue has already looked at.
TEST(EventQueueRunUntilTest, SchedulingBetweenRunsKeepsTheOrder) {
    for (const std::uint64_t seed : {6U, 7U, 8U, 9U}) {
        std::mt19937_64 random(seed);
        EventQueue queue;
        Recorder recorder(queue, no_children);
        ReferenceRecorder reference(no_children);
        std::uint64_t limit_ps = 0;
        for (int round = 0; round < 60; ++round) {
            const std::uint64_t events = random() % 3'000;
            const std::uint64_t range = std::uint64_t{1} << (random() % 32);
            for (std::uint64_t i = 0; i < events; ++i) {
                const std::uint64_t when_ps = queue.now().ps + random() % range;
                recorder.schedule(when_ps);
                reference.schedule(when_ps);
            }
            limit_ps += random() % (std::uint64_t{1} << (random() % 32));
            EXPECT_EQ(queue.run_until({limit_ps}),
                      (reference.run_until(limit_ps), reference.queue().size() > 0));
            ASSERT_LE(queue.now().ps, limit_ps);
            ASSERT_EQ(queue.size(), reference.queue().size());
        }
        queue.run();
        reference.run_until(kMaxPs);
        expect_equal(recorder.runs(), reference.runs());
    }
}

// The queue looks ahead to 2^24 and files what waits there relative to that time; what is scheduled
// before it must not be filed the same way.
TEST(EventQueueRunUntilTest, AFullFrontBeforeTheEventsLookedAtKeepsTheOrder) {
    EventQueue queue;
    Recorder recorder(queue, no_children);
    ReferenceRecorder reference(no_children);
    const auto schedule = [&](std::uint64_t when_ps) {
        recorder.schedule(when_ps);
        reference.schedule(when_ps);
    };
    for (std::uint64_t i = 0; i < 1'000; ++i) {
        schedule((1 << 24) + i * 4'096);
    }
    EXPECT_TRUE(queue.run_until({1'000}));
    for (std::uint64_t i = 0; i < 2'000; ++i) {
        schedule(2'000'000 - i * 500);
    }
    queue.run();
    reference.run_until(kMaxPs);
    expect_equal(recorder.runs(), reference.runs());
}

}  // namespace
}  // namespace astra
