// What TACOS is for: large heterogeneous fabrics, in seconds.
#include <ctime>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "system/synthesis/bandwidth_bound.h"
#include "tests/support/experiment.h"
#include "tests/system/synthesis/synthesis_fixture.h"

namespace astra::test {
namespace {

// A rank has 200 GB/s to its neighbours on the ring, 100 GB/s to each, 100 GB/s to its three peers
// of the full connection, and 50 GB/s to the switch. A quarter of its bandwidth on the ring more,
// or less, changes the bound and little else.
std::string heterogeneous(const std::string& algorithm) {
    return "workload: {generate: {kind: collective, collective: all_reduce, bytes: 1GiB}}\n"
           "system: {collectives: {all_reduce: " +
           algorithm +
           "}}\n"
           "network: {backend: congestion_aware, dimensions: ["
           "{topology: ring, ranks: 4, bandwidth: 100GB/s, latency: 500ns}, "
           "{topology: fully_connected, ranks: 4, bandwidth: 33333333333B/s, latency: 500ns}, "
           "{topology: switch, ranks: 8, bandwidth: 50GB/s, latency: 500ns}]}\n";
}

double seconds_of_processor() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// 350 GB/s into each of 128 ranks: 2 · 127/128 · 2^30 bytes take 6087.5 us at least. One ring over
// all ranks crosses a link of 33 GB/s of the full connection in every step: 2 · 127/128 · 2^30
// bytes over it take 63.9 ms.
TEST(TacosSlow, BeatsOneRingOnAHeterogeneousFabric) {
    const double before = seconds_of_processor();
    const RunResult tacos = run_study(heterogeneous("tacos"));
    const double spent = seconds_of_processor() - before;
    const RunResult ring = run_study(heterogeneous("oneRing"));
    const double tacos_us = static_cast<double>(tacos.simulated.ps) / 1e6;
    const double ring_us = static_cast<double>(ring.simulated.ps) / 1e6;
    fmt::print("tacos {:.1f} us, oneRing {:.1f} us: {:.2f} times; bound 6087.5 us; {:.2f} s\n",
               tacos_us,
               ring_us,
               ring_us / tacos_us,
               spent);
    EXPECT_GT(tacos_us, 6087.4);
    EXPECT_LT(tacos_us, 1.1 * 6087.5);
    EXPECT_GT(ring_us, 2 * tacos_us);
    EXPECT_LT(spent, 5.0);  // 1 s where the machine is not shared and nothing is instrumented
}

// 32 x 32: 1023/1024 of 2^30 bytes, twice, over four links of 50 GB/s: 10726.9 us.
TEST(TacosSlow, Makes1024RanksOfATorus) {
    const double before = seconds_of_processor();
    const RunResult result = run_study(
        "workload: {generate: {kind: collective, collective: all_reduce, bytes: 1GiB}}\n"
        "system: {collectives: {all_reduce: tacos}}\n"
        "network: {backend: congestion_aware, dimensions: ["
        "{topology: ring, ranks: 32, bandwidth: 50GB/s, latency: 500ns}, "
        "{topology: ring, ranks: 32, bandwidth: 50GB/s, latency: 500ns}]}\n");
    const double spent = seconds_of_processor() - before;
    const double time_us = static_cast<double>(result.simulated.ps) / 1e6;
    fmt::print("tacos {:.1f} us; bound 10726.9 us; {:.2f} s\n", time_us, spent);
    EXPECT_GT(time_us, 10726.9);
    EXPECT_LT(time_us, 1.05 * 10726.9);
    EXPECT_LT(spent, 60.0);
}

}  // namespace
}  // namespace astra::test
