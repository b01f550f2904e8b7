// Every policy on every backend, with real collectives: each gradient byte is reduced once an
// iteration, no update comes before its reduction, no reader before the update.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/simulation/simulation.h"
#include "system/transfer/policy.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

constexpr std::uint32_t kLayers = 6;
constexpr std::uint32_t kIterations = 3;
constexpr std::uint64_t kLayerBytes = 1 << 20;

std::string study(const std::string& backend, const std::string& transfers) {
    return fmt::format(R"(
workload:
  generate: {{kind: training, layers: {}, forward: 100us, backward: 200us, bytes: 1MiB}}
  iterations: {}
system:
  chunks: 2
  collectives: {{all_reduce: [ring, direct]}}
  compute_noise: {{deviation: 0.2}}
  transfers: {}
network:
  backend: {}
  dimensions:
    - {{topology: fully_connected, ranks: 2, bandwidth: 10GB/s, latency: 500ns}}
    - {{topology: switch, ranks: 3, bandwidth: 5GB/s, latency: 1us}}
)",
                       kLayers,
                       kIterations,
                       transfers,
                       backend);
}

RunResult run_recorded(const std::string& yaml) {
    const ScratchFolder folder;
    Recording recording;
    recording.ops = true;
    recording.transfers = true;
    Simulation simulation(Study::from_file(folder.write("study.yml", yaml)), recording);
    simulation.run({});
    RunResult result = simulation.result();
    std::map<std::tuple<std::uint32_t, std::string, std::uint32_t>, OpRecord> ops;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> seen;
    for (const OpRecord& op : result.ops) {
        ops[{index(op.rank), op.name, seen[{index(op.rank), op.name}]++}] = op;
    }
    for (std::uint32_t rank = 0; rank < 6; ++rank) {
        for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
            for (std::uint32_t i = 0; i < kIterations; ++i) {
                const auto op = [&](const char* what, std::uint32_t iteration) {
                    return ops.at({rank, fmt::format("{}_{}", what, layer), iteration});
                };
                EXPECT_LE(op("backward", i).end, op("all_reduce", i).start);
                EXPECT_LE(op("all_reduce", i).end, op("update", i).start);
                if (i + 1 < kIterations) {
                    EXPECT_LE(op("update", i).end, op("forward", i + 1).start);
                }
            }
        }
    }
    return result;
}

class TransferRuns : public testing::TestWithParam<std::tuple<const char*, std::string>> {};

TEST_P(TransferRuns, KeepTheModelCorrect) {
    const auto& [backend, policy] = GetParam();
    const RunResult result = run_recorded(study(backend, "{policy: " + policy + "}"));
    // The result owns its names: the simulation is gone.
    EXPECT_EQ(result.ops.front().name, "forward_0");
    EXPECT_EQ(result.windows.front().name.rfind("all_reduce_", 0), 0U);
    std::map<std::uint32_t, std::uint64_t> bytes;  // by iteration of the first tensor
    std::uint64_t all = 0;
    for (const TransferRecord& transfer : result.transfers) {
        EXPECT_LT(transfer.start, transfer.end);
        bytes[transfer.iteration] += transfer.bytes.count;
        all += transfer.bytes.count;
    }
    EXPECT_EQ(all, kIterations * kLayers * kLayerBytes);
    for (const auto& [iteration, sum] : bytes) {
        EXPECT_EQ(sum, kLayers * kLayerBytes) << iteration;
    }
    ASSERT_EQ(result.training.size(), 1U);
    const TrainingResult& training = result.training[0];
    EXPECT_EQ(training.iterations.size(), kIterations);
    for (const WindowRecord& window : result.windows) {
        EXPECT_LE(window.ready, window.start);
        EXPECT_LE(window.start, window.end);
    }
    EXPECT_EQ(result.windows.size(), kLayers);
}

std::vector<std::string> policies() {
    std::vector<std::string> names;
    for (const TransferPolicyInfo* info : transfer_policies()) {
        names.emplace_back(info->name);
    }
    return names;
}

INSTANTIATE_TEST_SUITE_P(
    AllPoliciesAndBackends,
    TransferRuns,
    testing::Combine(testing::Values("congestion_unaware", "congestion_aware", "flow", "packet"),
                     testing::ValuesIn(policies())),
    [](const auto& test) {
        std::string name = std::string(std::get<0>(test.param)) + "_" + std::get<1>(test.param);
        std::replace(name.begin(), name.end(), '-', '_');
        return name;
    });

// Two jobs whose rings share the links of one switch, on a backend that shares bandwidth: both keep
// to their own transfers, and each is slower than alone.
TEST(TransferRunsOfTwoJobs, ShareLinks) {
    const auto jobs = [](const std::string& policy, bool both) {
        const std::string workload =
            "{generate: {kind: training, layers: 6, forward: 100us, backward: 200us, bytes: 4MiB}, "
            "iterations: 4}";
        std::string yaml =
            "jobs:\n  - {name: a, ranks: [0, 2, 4, 6], workload: " + workload + "}\n";
        yaml += both ? "  - {name: b, ranks: [1, 3, 5, 7], workload: " + workload + "}\n" : "";
        yaml += "system: {transfers: {policy: " + policy + "}}\n";
        yaml += R"(network:
  backend: flow
  dimensions:
    - {topology: ring, ranks: 8, bandwidth: 5GB/s, latency: 1us}
)";
        return run_study(yaml);
    };
    for (const std::string policy : {"wfbp", "fusion", "priority", "caramel"}) {
        const RunResult alone = jobs(policy, false);
        const RunResult both = jobs(policy, true);
        ASSERT_EQ(both.training.size(), 2U) << policy;
        ASSERT_EQ(both.communicators.size(), 2U);
        EXPECT_EQ(both.communicators[1].job, 1U);
        for (const TrainingResult& training : both.training) {
            EXPECT_GT(training.steady, alone.training.at(0).steady) << policy;
            // No worse than taking turns, and little for what the forecast does not know.
            EXPECT_LT(10 * training.steady, 21 * alone.training.at(0).steady) << policy;
        }
        std::uint64_t bytes = 0;
        for (const TransferRecord& transfer : both.transfers) {
            bytes += transfer.bytes.count;
        }
        EXPECT_EQ(bytes, 2U * 4 * 6 * (4 << 20)) << policy;
    }
}

TEST(TransferRunsTwice, AreTheSame) {
    const auto times = [] {
        std::vector<std::uint64_t> ps;
        for (const TransferRecord& transfer :
             run_study(study("flow", "{policy: caramel}")).transfers) {
            ps.push_back(transfer.end.ps);
        }
        return ps;
    };
    EXPECT_EQ(times(), times());
}

}  // namespace
}  // namespace astra::test
