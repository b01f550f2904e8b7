// The parts of a rank's time against a count of moments, over random ops that overlap.
#include "workload/record/rank_activity.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace astra {
namespace {

struct RandomOp {
    Activity activity{};
    std::uint64_t begin = 0;
    std::uint64_t waits_until = 0;  // may be before the begin, or after the end
    std::uint64_t end = 0;
};

std::vector<RandomOp> random_ops(std::mt19937_64& random, std::uint64_t until) {
    std::vector<RandomOp> ops(1 + random() % 12);
    for (RandomOp& op : ops) {
        op.activity = static_cast<Activity>(random() % 4);
        op.begin = random() % until;
        op.end = op.begin + random() % (until + 1 - op.begin);
        op.waits_until = random() % (until + 1);
    }
    return ops;
}

PeerWait wait_of(const RandomOp& op) {
    return {{op.begin}, {{op.waits_until}, RankId{7}}};
}

// Moment by moment: communication is waiting while any op that communicates waits.
RankRecord counted(const std::vector<RandomOp>& ops, std::uint64_t until) {
    RankRecord record;
    for (std::uint64_t t = 0; t < until; ++t) {
        const auto runs = [&](Activity activity) {
            return std::any_of(ops.begin(), ops.end(), [&](const RandomOp& op) {
                return op.activity == activity && op.begin <= t && t < op.end;
            });
        };
        const bool waits = std::any_of(ops.begin(), ops.end(), [&](const RandomOp& op) {
            return op.activity == Activity::Communication && t >= op.begin && t < op.end &&
                   t < op.waits_until;
        });
        if (runs(Activity::Compute)) {
            ++record.compute.ps;
        } else if (waits) {
            ++record.waiting.ps;
        } else if (runs(Activity::Communication)) {
            ++record.exposed_communication.ps;
        } else if (runs(Activity::Memory)) {
            ++record.exposed_memory.ps;
        } else {
            ++record.idle.ps;
        }
        record.communication.ps += runs(Activity::Communication) ? 1 : 0;
        record.memory.ps += runs(Activity::Memory) ? 1 : 0;
    }
    return record;
}

// Up to `until`; what has not ended by then is told of as unfinished.
RankRecord kept_up(const std::vector<RandomOp>& ops, std::uint64_t until, bool ends_first) {
    RankActivity activity;
    std::vector<PeerWait> unfinished;
    const auto begin = [&](std::uint64_t t) {
        for (const RandomOp& op : ops) {
            if (op.begin == t && op.end > t) {
                activity.begin(op.activity, {t});
            }
        }
    };
    const auto end = [&](std::uint64_t t) {
        for (const RandomOp& op : ops) {
            if (op.end != t || op.begin == t) {
                continue;
            }
            if (op.activity == Activity::Communication) {
                activity.end_communication(wait_of(op), {t});
            } else {
                activity.end(op.activity, {t});
            }
        }
    };
    for (std::uint64_t t = 0; t < until; ++t) {
        if (ends_first) {
            end(t);
            begin(t);
        } else {
            begin(t);
            end(t);
        }
    }
    for (const RandomOp& op : ops) {
        if (op.activity == Activity::Communication && op.begin < until && op.end >= until) {
            unfinished.push_back(wait_of(op));
        }
    }
    return activity.record(RankId{3}, {until}, unfinished);
}

TEST(RankActivity, PartsAreWhatACountOfMomentsSays) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 4000; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        const auto ops = random_ops(random, 40);
        for (const std::uint64_t until : {40U, 23U}) {
            const RankRecord expected = counted(ops, until);
            for (const bool ends_first : {false, true}) {
                const RankRecord record = kept_up(ops, until, ends_first);
                EXPECT_EQ(record.compute.ps, expected.compute.ps);
                EXPECT_EQ(record.communication.ps, expected.communication.ps);
                EXPECT_EQ(record.memory.ps, expected.memory.ps);
                EXPECT_EQ(record.exposed_communication.ps, expected.exposed_communication.ps);
                EXPECT_EQ(record.waiting.ps, expected.waiting.ps);
                EXPECT_EQ(record.exposed_memory.ps, expected.exposed_memory.ps);
                EXPECT_EQ(record.idle.ps, expected.idle.ps);
                ASSERT_FALSE(testing::Test::HasFailure());
            }
        }
    }
}

// A receive from 10 to 50 whose sender comes at 40, and computation from 20 to 30.
TEST(RankActivity, AWaitIsExposedWhereNothingIsComputed) {
    RankActivity activity;
    activity.begin(Activity::Communication, {10});
    activity.begin(Activity::Compute, {20});
    activity.end(Activity::Compute, {30});
    EXPECT_EQ(activity.end_communication({{10}, {{40}, RankId{1}}}, {50}).wait.ps, 20U);
    const RankRecord record = activity.record(RankId{0}, {50});
    EXPECT_EQ(record.waiting.ps, 20U);
    EXPECT_EQ(record.exposed_communication.ps, 10U);
    EXPECT_EQ(record.compute.ps, 10U);
    EXPECT_EQ(record.idle.ps, 10U);
}

// Two transfers at once from 5 to 10: that time is of the one that ends first. The second waits
// until 12 and shares 20 to 25 with computation.
TEST(RankActivity, WhatWasExposedIsSharedOut) {
    RankActivity activity;
    activity.begin(Activity::Communication, {0});
    activity.begin(Activity::Communication, {5});
    EXPECT_EQ(activity.end_communication({{0}, {{0}, RankId{1}}}, {10}).transfer.ps, 10U);
    activity.begin(Activity::Compute, {20});
    activity.end(Activity::Compute, {25});
    const auto second = activity.end_communication({{5}, {{12}, RankId{1}}}, {30});
    EXPECT_EQ(second.wait.ps, 7U);
    EXPECT_EQ(second.transfer.ps, 13U);
}

}  // namespace
}  // namespace astra
