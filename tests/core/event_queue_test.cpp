#include "astra/core/event_queue.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "tests/core/event_recorder.h"

namespace astra {
namespace {

// A delay of any size up to 2^40: now, soon, or in another bucket of any level up to there. Ties
// are common, as the sizes are drawn before the values.
std::uint64_t any_delay(std::mt19937_64& random) {
    switch (random() % 8) {
        case 0:
        case 1:
            return 0;
        case 2:
            return 1;
        case 3:
            return random() % 4;
        case 4:
            return random() % 300;
        case 5:
            return (random() % 16) * 1000;
        case 6:
            return random() % (std::uint64_t{1} << 17);
        default:
            return random() % (std::uint64_t{1} << 40);
    }
}

// One child on average for the first 100,000 events, fewer later, so that the run ends.
std::vector<std::uint64_t> random_children(std::uint64_t id, std::uint64_t) {
    std::mt19937_64 random(id);
    std::vector<std::uint64_t> delays(id < 100'000 ? random() % 3 : 0);
    for (std::uint64_t& delay : delays) {
        delay = any_delay(random);
    }
    return delays;
}

// Schedules `times` in order, runs everything and compares with the reference.
void expect_in_order(const std::vector<std::uint64_t>& times, Recorder::Plan plan) {
    EventQueue queue;
    Recorder recorder(queue, plan);
    ReferenceRecorder reference(plan);
    for (const std::uint64_t when_ps : times) {
        recorder.schedule(when_ps);
        reference.schedule(when_ps);
    }
    EXPECT_EQ(queue.size(), times.size());
    queue.run();
    reference.run_until(kMaxPs);
    expect_equal(recorder.runs(), reference.runs());
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.executed(), recorder.runs().size());
}

TEST(EventQueueTest, StartsEmptyAtTimeZero) {
    EventQueue queue;
    EXPECT_TRUE(queue.empty());
    EXPECT_EQ(queue.size(), 0U);
    EXPECT_EQ(queue.executed(), 0U);
    EXPECT_EQ(queue.now().ps, 0U);
    EXPECT_FALSE(queue.step());
    EXPECT_FALSE(queue.run_until({1'000'000}));
}

TEST(EventQueueTest, EqualTimesRunInTheOrderOfScheduling) {
    expect_in_order(std::vector<std::uint64_t>(1'000, 7), no_children);
    expect_in_order({5, 3, 5, 3, 5, 4, 3, 0, 0}, no_children);
}

TEST(EventQueueTest, ManyRandomEventsWithManyTiesRunInOrder) {
    for (const std::uint64_t range : {10ULL, 1'000ULL, 1ULL << 16, 1ULL << 33, 1ULL << 63}) {
        std::mt19937_64 random(range);
        std::vector<std::uint64_t> times(100'000);
        for (std::uint64_t& when_ps : times) {
            // A quarter of the events at one of sixteen times.
            when_ps = random() % 4 == 0 ? (random() % 16) * (range / 16) : random() % range;
        }
        expect_in_order(times, no_children);
    }
}

TEST(EventQueueTest, EventsThatScheduleEventsRunInOrder) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        std::mt19937_64 random(seed);
        std::vector<std::uint64_t> times(2'000);
        for (std::uint64_t& when_ps : times) {
            when_ps = any_delay(random);
        }
        expect_in_order(times, random_children);
    }
}

TEST(EventQueueTest, TimesUpToTheLastOneThatCanBeHeldRunInOrder) {
    std::vector<std::uint64_t> times;
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
        const std::uint64_t power = std::uint64_t{1} << bit;
        times.insert(times.end(), {power, power - 1, power + 1, power, ~power});
    }
    times.push_back(kMaxPs - 1);
    times.push_back(kMaxPs - 1);
    times.push_back(kMaxPs - 2);
    std::mt19937_64 random(4);
    std::shuffle(times.begin(), times.end(), random);
    // Enough of them for the highest level to be spread rather than sorted.
    for (int i = 0; i < 5'000; ++i) {
        times.push_back((std::uint64_t{1} << 63) + random() % (std::uint64_t{1} << (i % 63)));
    }
    expect_in_order(times, no_children);
}

TEST(EventQueueTest, DelaysNearTheLargestTimeRunInOrder) {
    const auto leap = [](std::uint64_t id, std::uint64_t) {
        return id < 4 ? std::vector<std::uint64_t>{std::uint64_t{1} << 62, 1, 0, 3}
                      : std::vector<std::uint64_t>{};
    };
    expect_in_order({0, (std::uint64_t{1} << 62) + 5}, leap);
}

TEST(EventQueueTest, AMillionPendingEventsRunInOrder) {
    std::mt19937_64 random(5);
    std::vector<std::uint64_t> times(1'000'000);
    for (std::uint64_t& when_ps : times) {
        when_ps = random() % 1'000'000'000;
    }
    expect_in_order(times, no_children);
}

// Each of the first few thousand events adds events before one that is already waiting close by:
// the sorted front of the queue fills up and has to be handed back.
TEST(EventQueueTest, ThousandsOfInsertionsIntoATinyWindowRunInOrder) {
    const auto crowd = [](std::uint64_t id, std::uint64_t) {
        return id < 20'000 ? std::vector<std::uint64_t>{(id * 37) % 200, 199 - id % 200}
                           : std::vector<std::uint64_t>{};
    };
    expect_in_order({1'000, 1'250, 66'000, 1 << 20, 1 << 26}, crowd);

    const auto burst = [](std::uint64_t id, std::uint64_t) {
        std::vector<std::uint64_t> delays;
        for (std::uint64_t i = 0; id < 3 && i < 5'000; ++i) {
            delays.push_back((i * 7919) % 60'000);
        }
        return delays;
    };
    expect_in_order({1 << 18, (1 << 18) + 65'000, 1 << 22}, burst);
}

// Runs itself again and again, every `delay_ps`.
class Chain {
  public:
    Chain(EventQueue& queue, std::uint64_t delay_ps, std::uint64_t runs)
        : queue_(queue), delay_ps_(delay_ps), left_(runs) {}
    void run(std::uint64_t) {
        if (left_-- > 0) {
            queue_.schedule_after({delay_ps_}, Callback::to<&Chain::run>(*this));
        }
    }

  private:
    EventQueue& queue_;
    std::uint64_t delay_ps_;
    std::uint64_t left_;
};

std::uint64_t resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    std::uint64_t all_pages = 0;
    std::uint64_t resident_pages = 0;
    statm >> all_pages >> resident_pages;
    return resident_pages * 4'096;
}

// Two events are pending at any time, so that the front never runs empty for the 6,000,000 events
// that fall between 2^40 and 2^41 ps. Kept all at 32 bytes they would take 192 MB.
TEST(EventQueueTest, MemoryFollowsPendingEventsNotExecutedOnes) {
    EventQueue queue;
    Chain even(queue, 1'000, 3'000'000);
    Chain odd(queue, 1'001, 3'000'000);
    queue.schedule_at({std::uint64_t{1} << 40}, Callback::to<&Chain::run>(even));
    queue.schedule_at({(std::uint64_t{1} << 40) + 500}, Callback::to<&Chain::run>(odd));
    const std::uint64_t before = resident_bytes();
    queue.run();
    EXPECT_EQ(queue.executed(), 6'000'002U);
    EXPECT_LT(resident_bytes(), before + (std::uint64_t{64} << 20));
}

TEST(EventQueueTest, AHandlerMayScheduleAtItsOwnTime) {
    const auto again = [](std::uint64_t id, std::uint64_t) {
        return id < 10'000 ? std::vector<std::uint64_t>{0} : std::vector<std::uint64_t>{};
    };
    expect_in_order({12'345, 12'345, 12'346}, again);
}

TEST(EventQueueTest, TheLargestTimeIsRefused) {
    EventQueue queue;
    Recorder recorder(queue, no_children);
    EXPECT_THROW(recorder.schedule(kMaxPs), SimulationError);
    EXPECT_EQ(queue.size(), 0U);
    recorder.schedule(kMaxPs - 1);
    queue.run();
    EXPECT_EQ(queue.now().ps, kMaxPs - 1);
    const Callback nothing;
    EXPECT_THROW(queue.schedule_after({1}, nothing), SimulationError);
    EXPECT_THROW(queue.schedule_after({kMaxPs}, nothing), SimulationError);
}

TEST(EventQueueTest, ThePastIsRefused) {
    EventQueue queue;
    Recorder recorder(queue, no_children);
    recorder.schedule(100);
    queue.run();
    EXPECT_THROW(recorder.schedule(99), InternalError);
    EXPECT_EQ(queue.size(), 0U);
    recorder.schedule(100);
    EXPECT_TRUE(queue.step());
    EXPECT_EQ(queue.now().ps, 100U);
}

TEST(EventQueueTest, CountsPendingAndExecutedEvents) {
    EventQueue queue;
    Recorder recorder(queue, no_children);
    for (std::uint64_t i = 0; i < 100; ++i) {
        recorder.schedule(i * i);
        EXPECT_EQ(queue.size(), i + 1);
    }
    for (std::uint64_t i = 0; i < 100; ++i) {
        EXPECT_TRUE(queue.step());
        EXPECT_EQ(queue.executed(), i + 1);
        EXPECT_EQ(queue.size(), 99 - i);
    }
    EXPECT_FALSE(queue.step());
    EXPECT_EQ(queue.executed(), 100U);
}

}  // namespace
}  // namespace astra
