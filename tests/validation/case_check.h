// What the tests of numbered cases share. MiB = 1,048,576 B; "R8" is a ring of eight at 50 and 500
// ns.
#pragma once

#include <initializer_list>
#include <string>

#include <gmock/gmock.h>

#include "tests/support/replay_check.h"

namespace astra::test {

inline constexpr std::uint64_t kMiB = 1U << 20U;
inline constexpr const char* kAware = "congestion_aware";
inline constexpr const char* kUnaware = "congestion_unaware";

inline Experiment on(std::vector<NetworkDimension> dimensions, const Trace& trace) {
    Experiment experiment;
    experiment.dimensions = std::move(dimensions);
    experiment.network_only();
    experiment.traces = everywhere(experiment.ranks(), trace);
    return experiment;
}

inline Experiment r8(const Trace& trace) {
    return on({ring(8)}, trace);
}

inline Experiment r8_all_reduce(std::uint64_t bytes = kMiB) {
    return r8({collective(1, CollectiveKind::AllReduce, bytes)});
}

// Both the first and the last rank; a picosecond of rounding a step is below the tolerance.
inline void expect_ns(const RunResult& result, double nanoseconds) {
    const FinishRange got = finish_range(result);
    EXPECT_NEAR(static_cast<double>(got.latest_ps) / 1000.0, nanoseconds, 0.03);
    EXPECT_EQ(got.earliest_ps, got.latest_ps);
}

// "50" means 50·10^9 bytes a second, then 50·2^30.
inline void expect_both_units(Experiment experiment, double decimal_ns, double binary_ns) {
    experiment.network_unit = "GB";
    expect_ns(run(experiment), decimal_ns);
    experiment.network_unit = "GiB";
    expect_ns(run(experiment), binary_ns);
}

// The exit status, and every part of the message on standard error.
inline void expect_failure(const ProgramRun& run,
                           int status,
                           std::initializer_list<const char*> parts) {
    EXPECT_EQ(run.status, status) << run.error;
    EXPECT_THAT(run.error, testing::HasSubstr("astra: error: "));
    for (const char* part : parts) {
        EXPECT_THAT(run.error, testing::HasSubstr(part));
    }
}

}  // namespace astra::test
