// Collectives in pipelines take what their closed forms say where links are shared: a later message
// of a connection never delays an earlier one. B = 50 GB/s, a latency of 1 ns.
#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/experiment.h"

namespace astra::test {
namespace {

constexpr double kBytes = 64.0 * (1U << 20U);
constexpr double kWire = kBytes / 50e9 * 1e12;  // S / B in ps

double time_of(const std::string& backend,
               const std::string& kind,
               const std::string& algorithm,
               std::uint32_t ranks,
               const std::string& topology = "switch") {
    return static_cast<double>(
        run_study(fmt::format(
                      "workload: {{generate: {{kind: collective, collective: {}, bytes: 64MiB}}}}\n"
                      "system: {{endpoint_delay: 0ns, collectives: {{{}: {}}}}}\n"
                      "network: {{{}, dimensions: [{{topology: {}, ranks: {}, bandwidth: 50GB/s, "
                      "latency: 1ns}}]}}\n",
                      kind,
                      kind,
                      algorithm,
                      backend,
                      topology,
                      ranks))
            .simulated.ps);
}

class Pipelines : public testing::TestWithParam<const char*> {
  protected:
    void expect(double time, double closed_form) const {
        EXPECT_GE(time, closed_form);
        EXPECT_LE(time, closed_form * 1.05);
    }
};

// The last of k slices leaves the root after S/B, and passes n-2 more members: (k + n - 2) / k.
TEST_P(Pipelines, AChainOfSlices) {
    expect(time_of(GetParam(), "broadcast", "chain16", 16), kWire * (16 + 16 - 2) / 16);
    expect(time_of(GetParam(), "broadcast", "chain64", 8), kWire * (64 + 8 - 2) / 64);
}

// ceil(log2 n) messages of S one after the other.
TEST_P(Pipelines, ABinomialTree) {
    expect(time_of(GetParam(), "broadcast", "binomial", 16), 4 * kWire);
    expect(time_of(GetParam(), "reduce", "binomial", 8), 3 * kWire);
}

// An inner member of one tree is a leaf of the other: it sends 3·S/2 and S/2 over its link.
TEST_P(Pipelines, TwoTrees) {
    expect(time_of(GetParam(), "all_reduce", "ncclTree256", 8), 2 * kWire);
}

// Inside groups of G, (G-1)/G · S there and back; across n/G of them 2 (1 - G/n) · S/G.
TEST_P(Pipelines, TwoLevels) {
    expect(time_of(GetParam(), "all_reduce", "hierarchical4", 16), 2 * 15.0 / 16 * kWire);
    expect(time_of(GetParam(), "all_gather", "hierarchical4", 16), 15 * kWire);
}

// Each of n members gets (n-1) S over its two links.
TEST_P(Pipelines, ASynthesisedProgram) {
    expect(time_of(GetParam(), "all_gather", "tacos4", 8, "ring"), 7 * kWire / 2);
}

INSTANTIATE_TEST_SUITE_P(Sharing,
                         Pipelines,
                         testing::Values("backend: flow",
                                         "backend: packet, packet: {transport: none, header: 0B}"),
                         [](const testing::TestParamInfo<const char*>& test) {
                             return std::string(test.index == 0 ? "flow" : "packet");
                         });

}  // namespace
}  // namespace astra::test
