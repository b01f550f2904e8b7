// Compares a run with the exact time that it must take, and with what the reference measured.
#pragma once

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/support/closed_form.h"

namespace astra::test {

// Whole nanoseconds, as the reference gives them.
struct Reference {
    std::uint64_t earliest_ns = 0;
    std::uint64_t latest_ns = 0;
    double tolerance = 0.001;
};

inline FinishRange finish_range(const RunResult& result) {
    FinishRange range{~std::uint64_t{0}, 0};
    for (const RankRecord& rank : result.ranks) {
        range.earliest_ps = std::min(range.earliest_ps, rank.finish.ps);
        range.latest_ps = std::max(range.latest_ps, rank.finish.ps);
    }
    return range;
}

inline void expect_finish(const RunResult& result, const FinishRange& expected) {
    const FinishRange got = finish_range(result);
    EXPECT_EQ(got.earliest_ps, expected.earliest_ps);
    EXPECT_EQ(got.latest_ps, expected.latest_ps);
}

// The reference truncates every step to whole nanoseconds, so that a run may be 0.8 % later than
// it.
inline void expect_near(std::uint64_t got_ps, std::uint64_t reference_ns, double tolerance) {
    const double got = static_cast<double>(got_ps) / 1000.0;
    const auto reference = static_cast<double>(reference_ns);
    EXPECT_GE(got, reference * (1 - tolerance) - 5);
    EXPECT_LE(got, reference * (1 + std::max(tolerance, 0.008)) + 5);
}

inline void expect_reference(const RunResult& result, const Reference& reference) {
    const FinishRange got = finish_range(result);
    expect_near(got.latest_ps, reference.latest_ns, reference.tolerance);
    if (reference.tolerance <= 0.01) {
        expect_near(got.earliest_ps, reference.earliest_ns, reference.tolerance);
    }
}

inline NetworkDimension ring(std::uint32_t ranks) {
    return {"Ring", ranks, 50, 500'000};
}
inline NetworkDimension switched(std::uint32_t ranks) {
    return {"Switch", ranks, 50, 500'000};
}
inline NetworkDimension connected(std::uint32_t ranks) {
    return {"FullyConnected", ranks, 50, 500'000};
}

}  // namespace astra::test
