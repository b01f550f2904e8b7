// Long collectives reach what their links can carry.
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/experiment.h"

namespace astra {
namespace {

constexpr double kGiB = 1U << 30U;
constexpr double kBytesPerPs = 50e9 / 1e12;

// The time of an all_reduce of 1 GiB; reductions are free.
double time_ps(const std::string& algorithm, const std::string& topology) {
    const RunResult result = test::run_study(fmt::format(
        "workload: {{generate: {{kind: collective, collective: all_reduce, bytes: 1GiB}}}}\n"
        "system: {{collectives: {{all_reduce: {}}}}}\n"
        "network: {{backend: congestion_aware, dimensions: [{{topology: {}, ranks: 8, "
        "bandwidth: 50GB/s, latency: 500ns}}]}}\n",
        algorithm,
        topology));
    return static_cast<double>(result.simulated.ps);
}

void expect_within(double time, double bound, double share) {
    EXPECT_GE(time, bound);
    EXPECT_LE(time, bound * (1 + share));
}

// A member sends at least 2(n-1)/n · S (Patarasuk, Yuan 2009), here over its two links of a ring.
TEST(BandwidthTest, BothDirectionsOfARingWork) {
    const double bytes = 2 * 7.0 / 8 * kGiB;
    expect_within(time_ps("bidirectionalRing", "ring"), bytes / (2 * kBytesPerPs), 0.02);
    expect_within(time_ps("multiRing2", "ring"), bytes / (2 * kBytesPerPs), 0.02);
    // One direction only takes twice the time.
    expect_within(time_ps("ring", "ring"), bytes / kBytesPerPs, 0.02);
}

// Strides 1, 3, 5, 7 of eight: four of a member's seven links.
TEST(BandwidthTest, RingsOverTheirOwnLinksAddUp) {
    const double bytes = 2 * 7.0 / 8 * kGiB;
    expect_within(time_ps("multiRing4", "fully_connected"), bytes / (4 * kBytesPerPs), 0.02);
}

// An inner member of one tree is a leaf of the other: it sends 3·S/2 and S/2, 2S in all, over its
// one link of a switch.
TEST(BandwidthTest, TwoTreesSendTwiceTheData) {
    expect_within(time_ps("ncclTree256", "switch"), 2 * kGiB / kBytesPerPs, 0.05);
}

}  // namespace
}  // namespace astra
