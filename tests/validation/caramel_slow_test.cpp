// Caramel against every other policy, on random tables of tensors: alone with collectives whose
// time was measured, and with real ones over two dimensions that share links, with noise and
// without. A run of caramel ends no later than one of any other policy: it rehearses them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "network/backend/backend.h"
#include "system/transfer/policy.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

// Tensors of 10^2 to 10^7 parameters, in tables of 2 to `most`.
std::string table(std::mt19937_64& random, std::uint64_t most) {
    std::string text = "tensor,params,fwd_flops_per_sample\n";
    const std::uint64_t tensors = 2 + random() % (most - 1);
    std::uniform_real_distribution<double> exponent(2, 7);
    for (std::uint64_t tensor = 0; tensor < tensors; ++tensor) {
        text += fmt::format("t{},{},{}\n",
                            tensor,
                            static_cast<std::uint64_t>(std::pow(10, exponent(random))),
                            static_cast<std::uint64_t>(std::pow(10, 2 + exponent(random))));
    }
    return text;
}

class Law {
  public:
    // `study` with the policy where {} stands.
    void expect(const std::string& tensors, const std::string& study) {
        const ScratchFolder folder;
        folder.write("table.csv", tensors);
        const auto time_ps = [&](std::string_view policy) {
            const std::string text = fmt::format(fmt::runtime(study), policy);
            return simulate(Study::from_file(folder.write("study.yml", text))).simulated.ps;
        };
        std::uint64_t best_ps = kMaxPs;
        for (const TransferPolicyInfo* policy : transfer_policies()) {
            if (policy->name != "caramel") {
                best_ps = std::min(best_ps, time_ps(policy->name));
            }
        }
        const std::uint64_t caramel_ps = time_ps("caramel");
        EXPECT_LE(caramel_ps, best_ps) << study << tensors;
        faster_ += caramel_ps < best_ps ? 1 : 0;
    }
    std::size_t faster() const { return faster_; }

  private:
    std::size_t faster_ = 0;
};

TEST(CaramelSlowTest, IsTheBestOfAllWithMeasuredCollectives) {
    std::mt19937_64 random(1);
    Law law;
    for (int round = 0; round < 300; ++round) {
        law.expect(
            table(random, 40),
            fmt::format("workload: {{{{generate: {{{{kind: training, table: table.csv, batch: {}, "
                        "rate: 8TFLOPS}}}}, iterations: {}}}}}\n"
                        "system:\n"
                        "  collectives: {{{{all_reduce: measured}}}}\n"
                        "  measured: {{{{all_reduce: {{{{alpha: {}us, beta: {}Gbps}}}}}}}}\n"
                        "  transfers: {{{{policy: {{}}, fusion: {{{{buffer: 64MiB, cycle: 0ns}}}}, "
                        "priority: {{{{partition: 4MiB, credit: unlimited}}}}}}}}\n"
                        "network: {{{{dimensions: [{{{{topology: switch, ranks: 2, bandwidth: "
                        "10Gbps, latency: 1us}}}}]}}}}\n",
                        1U << random() % 8,
                        2 + random() % 8,
                        10 + random() % 500,
                        1 + random() % 50));
    }
    EXPECT_GT(law.faster(), 100U);
}

TEST(CaramelSlowTest, IsTheBestOfAllWithRealCollectives) {
    std::mt19937_64 random(2);
    Law law;
    for (int round = 0; round < 25; ++round) {
        const std::string tensors = table(random, 8);
        const std::string system = fmt::format(
            "workload: {{{{generate: {{{{kind: training, table: table.csv, batch: {}, rate: "
            "8TFLOPS}}}}, iterations: 4}}}}\n"
            "system: {{{{compute_noise: {{{{deviation: {}}}}}, collectives: {{{{all_reduce: "
            "{}}}}}, "
            "transfers: {{{{policy: {{}}, fusion: {{{{buffer: 64MiB, cycle: 0ns}}}}, "
            "priority: {{{{partition: 4MiB, credit: unlimited}}}}}}}}}}}}\n",
            1U << random() % 6,
            round % 3 == 0   ? "0.0"
            : round % 3 == 1 ? "0.01"
                             : "0.1",
            round % 2 == 0 ? "ring" : "direct");
        const std::string dimensions = fmt::format(
            "dimensions: [{{{{topology: switch, ranks: 4, bandwidth: {}GB/s, latency: 1us}}}}, "
            "{{{{topology: ring, ranks: 2, bandwidth: {}GB/s, latency: 1us}}}}]",
            5 + random() % 45,
            1 + random() % 10);
        for (const BackendInfo* backend : backends()) {
            law.expect(
                tensors,
                system +
                    fmt::format("network: {{{{backend: {}, {}}}}}\n", backend->name, dimensions));
        }
    }
    EXPECT_GT(law.faster(), 5U);  // else as fast as the best
}

}  // namespace
}  // namespace astra::test
