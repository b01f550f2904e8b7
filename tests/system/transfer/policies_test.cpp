// Policies against iterations that are short enough to be worked out by hand.
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"
#include "system/transfer/forecast_run.h"
#include "system/transfer/policy.h"

namespace astra {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Two layers; forward 1 ps each, backward 2 ps each, so P = 6 ps. The gradient of layer 1 is there
// at 4, that of layer 0 at 6. In the next iteration layer 0 reads its parameters at 0, layer 1
// at 1.
GroupForecast two_layers(std::uint64_t bytes1, std::uint64_t bytes0) {
    return {{6}, {{{bytes1}, {4}, {7}, 1}, {{bytes0}, {6}, {6}, 0}}};
}

// α = 1 ps, β = 1 ps a byte, unless said otherwise.
TransferCost cost(std::uint64_t alpha_ps = 1) {
    return {{alpha_ps}, 1.0, nullptr};
}

ConfigTree study(const std::string& transfers) {
    return ConfigTree::parse_text("transfers: " + transfers, "study.yml");
}

// Steady iteration of the policy that the text describes.
std::uint64_t steady_ps(const std::string& transfers,
                        const GroupForecast& forecast,
                        const TransferCost& cost) {
    const ConfigTree tree = study(transfers);
    const auto policy = read_transfer_policy(tree.root());
    tree.reject_unread();
    const auto schedule = policy->schedule(forecast, cost);
    return steady_iteration(forecast, cost, policy->barrier(), *schedule).ps;
}

std::string complaint(const std::string& transfers) {
    try {
        const ConfigTree tree = study(transfers);
        read_transfer_policy(tree.root());
        tree.reject_unread();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(TransferPolicies, NoneIsComputationAndThenCommunication) {
    // P + M = 6 + 2 · (1 + 2).
    EXPECT_EQ(steady_ps("{policy: none}", two_layers(2, 2), cost()), 12U);
}

TEST(TransferPolicies, WfbpStartsWithTheFirstGradient) {
    // Layer 1 from 4 to 7, layer 0 from 7 to 10, and then the barrier.
    EXPECT_EQ(steady_ps("{policy: wfbp}", two_layers(2, 2), cost()), 10U);
    // Layer 1 is done before layer 0 is there: 6 + 3.
    EXPECT_EQ(steady_ps("{policy: wfbp}", two_layers(1, 2), cost()), 9U);
}

TEST(TransferPolicies, FusionTakesWhatIsReadyWhenTheNetworkIsFree) {
    // α = 3. Layer 1 from 4 to 9; layer 0 alone from 9 to 14.
    EXPECT_EQ(steady_ps("{policy: fusion, cycle: 0ns}", two_layers(2, 2), cost(3)), 14U);
    // Cycles of 7 ps: both at 7, until 7 + 3 + 4 = 14; the next gradients are there at 18 and 20,
    // both are taken at 21: 14 each.
    EXPECT_EQ(steady_ps("{policy: fusion, cycle: 7ps}", two_layers(2, 2), cost(3)), 14U);
    // A buffer of 3 bytes holds one of them: at 7 and 14, until 19. The next gradients are there at
    // 23 and 25, and taken at 28 and 35, until 40: 21 each.
    EXPECT_EQ(steady_ps("{policy: fusion, cycle: 7ps, buffer: 3B}", two_layers(2, 2), cost(3)),
              21U);
    // 4 bytes copied in and out at 1 B/ps: from 7 to 22. The next gradients are there at 26 and 28,
    // and taken at 28, until 43: 21 each.
    EXPECT_EQ(steady_ps("{policy: fusion, cycle: 7ps, copy: 1000GB/s}", two_layers(2, 2), cost(3)),
              21U);
    // A tensor alone is not copied.
    EXPECT_EQ(
        steady_ps(
            "{policy: fusion, cycle: 7ps, buffer: 3B, copy: 1000GB/s}", two_layers(2, 2), cost(3)),
        21U);
}

TEST(TransferPolicies, MgWfbpMergesWhereAStartCostsMoreThanTheWait) {
    // The transfer of layer 1 could start 2 ps before layer 0 is ready: not merged with α = 1,
    // 4 + 2 · 3; merged with α = 3, 6 + 3 + 4 (and not 4 + 2 · 5).
    EXPECT_EQ(steady_ps("{policy: mg-wfbp}", two_layers(2, 2), cost(1)), 10U);
    EXPECT_EQ(steady_ps("{policy: mg-wfbp}", two_layers(2, 2), cost(3)), 13U);
}

TEST(TransferPolicies, PriorityLetsTheFirstLayerPassBetweenPartitions) {
    // Layer 1 from 4 to 7, layer 0 from 7 to 10: forward of layer 0 from 10, as with a barrier.
    EXPECT_EQ(steady_ps("{policy: priority, partition: 4B}", two_layers(2, 2), cost()), 10U);
    // Partitions of 1 byte take 2 ps: layer 1 from 4 to 6, both of layer 0 until 10, the other
    // one of layer 1 until 12. Forward 10 to 11, then 12 to 13; backward until 17: 11 after 6.
    EXPECT_EQ(steady_ps("{policy: priority, partition: 1B}", two_layers(2, 2), cost()), 11U);
    // A long layer 1, 10 bytes: whole it takes until 15, layer 0 until 18.
    EXPECT_EQ(steady_ps("{policy: priority, partition: 10B}", two_layers(10, 2), cost()), 18U);
    // In parts of 2 bytes, 3 ps each: one until 7, layer 0 until 10, the other four until 22,
    // when the forward pass of layer 1 goes on: 22 + 5 = 27, 21 after the end at 6.
    EXPECT_EQ(steady_ps("{policy: priority, partition: 2B}", two_layers(10, 2), cost()), 21U);
}

TEST(TransferPolicies, CaramelFindsTheBestOfItsCandidates) {
    // Never below max(P, α + β · bytes), never above what batches of any length would give.
    const GroupForecast forecast = two_layers(10, 2);
    const std::uint64_t adaptive = steady_ps("{policy: caramel}", forecast, cost());
    for (const char* gamma : {"1", "2", "5", "12"}) {
        EXPECT_LE(
            adaptive,
            steady_ps(std::string("{policy: caramel, gamma_chunk: 1000, gamma: ") + gamma + "}",
                      forecast,
                      cost()))
            << gamma;
    }
    // α + β · 12: both tensors once an iteration, and nothing is faster on a serial network.
    EXPECT_GE(adaptive, 13U);
    // Layer 1 whole, 4 to 15; layer 0 joins none of it, 15 to 18; forward at 18: 12 after 6. Then
    // layer 1 comes at 22, … : 18 each. Uncut and alone that is what wfbp pays.
    EXPECT_EQ(steady_ps("{policy: caramel, batching: false, pipelining: false}", forecast, cost()),
              18U);
}

TEST(TransferPolicies, CaramelLosesToNoMergingBeforehand) {
    // α = 30: both from 6 until 30 + 4 later, with a barrier or without; in two, 60 at least.
    EXPECT_EQ(steady_ps("{policy: mg-wfbp}", two_layers(2, 2), cost(30)), 40U);
    EXPECT_EQ(steady_ps("{policy: caramel}", two_layers(2, 2), cost(30)), 40U);
    for (std::uint64_t alpha = 0; alpha < 40; ++alpha) {
        for (const std::uint64_t bytes : {1U, 3U, 10U}) {
            const GroupForecast forecast = two_layers(bytes, 4);
            const std::uint64_t caramel = steady_ps("{policy: caramel}", forecast, cost(alpha));
            for (const char* other : {"wfbp", "fusion, cycle: 0ns", "mg-wfbp"}) {
                const std::string policy = std::string("{policy: ") + other + "}";
                EXPECT_LE(caramel, steady_ps(policy, forecast, cost(alpha)))
                    << policy << alpha << " " << bytes;
            }
        }
    }
}

TEST(TransferPolicies, EveryPolicyIsBoundedByComputationAndCommunication) {
    for (const TransferPolicyInfo* info : transfer_policies()) {
        if (info->name == "trace") {
            continue;
        }
        const std::string text = "{policy: " + std::string(info->name) + "}";
        for (const std::uint64_t alpha : {0U, 1U, 5U}) {
            const std::uint64_t steady = steady_ps(text, two_layers(3, 4), cost(alpha));
            EXPECT_GE(steady, std::max<std::uint64_t>(6, alpha + 7)) << text;
        }
    }
}

TEST(TransferPolicies, AForecastThatPassesTheClockIsNoCandidate) {
    // Two transfers of a quarter of the clock in each of eight iterations.
    const TransferCost slow = cost(kMaxPs / 4);
    EXPECT_EQ(steady_ps("{policy: wfbp}", two_layers(2, 2), slow), kMaxPs);
    EXPECT_EQ(steady_ps("{policy: caramel, batching: false}", two_layers(2, 2), slow), kMaxPs);
    // Even one transfer: longer than the clock, and as long as it.
    EXPECT_EQ(steady_ps("{policy: caramel}", two_layers(2, 2), cost(kMaxPs - 1)), kMaxPs);
    EXPECT_EQ(steady_ps("{policy: caramel}", two_layers(2, 2), cost(kMaxPs)), kMaxPs);
}

TEST(TransferPolicies, WrongParametersAreSaidPlainly) {
    EXPECT_THAT(complaint("{policy: fussion}"), HasSubstr("did you mean 'fusion'?"));
    EXPECT_THAT(complaint("{policy: wfbp, buffer: 64MiB}"),
                HasSubstr("a parameter of the policy fusion, but the policy is wfbp"));
    EXPECT_THAT(complaint("{policy: fusion, buffer: 0B}"), HasSubstr("expected a size above 0"));
    EXPECT_THAT(complaint("{policy: priority, partition: 4MiB, credit: 1MiB}"),
                HasSubstr("a credit of 1048576 B is smaller than a partition of 4194304 B"));
    EXPECT_THAT(complaint("{policy: priority, partition: 0B}"),
                HasSubstr("expected a size above 0"));
    EXPECT_THAT(complaint("{policy: caramel, gamma: -1}"),
                HasSubstr("expected 'auto' or a factor"));
    EXPECT_THAT(complaint("{policy: caramel, gama: 1}"), HasSubstr("did you mean 'gamma'?"));
    EXPECT_THAT(complaint("{policy: caramel, depth: 0}"), HasSubstr("depth"));
    // A policy that is not chosen, in the section of its name, is judged all the same.
    EXPECT_THAT(complaint("{policy: wfbp, priority: {partition: 4MiB, credit: 1MiB}}"),
                HasSubstr("smaller than a partition"));
    EXPECT_THAT(complaint("{policy: wfbp, wfbp: {buffer: 1MiB}}"), HasSubstr("wfbp"));
}

// What comes of a schedule for two tensors of this length.
std::string complaint_of_schedule(const std::string& transfers, std::uint64_t bytes) {
    const ConfigTree tree = study(transfers);
    const auto policy = read_transfer_policy(tree.root());
    const GroupForecast forecast = two_layers(bytes, bytes);
    const TransferCost network = cost(1000);  // a byte is a thousandth of a start
    try {
        policy->schedule(forecast, network);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(TransferPolicies, PiecesAreLimited) {
    EXPECT_THAT(complaint("{policy: caramel, gamma: 0.0009}"),
                HasSubstr("expected 'auto' or a factor from 0.001 to 10^12"));
    EXPECT_THAT(complaint("{policy: caramel, gamma_chunk: 1e-308}"), HasSubstr("from 0.001"));
    EXPECT_EQ(complaint("{policy: caramel, gamma: 0.001, gamma_chunk: 0.001}"), "accepted");
    // 2^20 pieces of a byte, and two more.
    EXPECT_EQ(complaint_of_schedule("{policy: priority, partition: 1B}", 1U << 19U), "accepted");
    EXPECT_THAT(complaint_of_schedule("{policy: priority, partition: 1B}", (1U << 19U) + 1),
                AllOf(HasSubstr("study.yml:1"),
                      HasSubstr("transfers.partition"),
                      HasSubstr("1048578 pieces, beyond 1048576")));
    // 2^14 pieces of a byte, and two more.
    const std::string fine = "{policy: caramel, gamma_chunk: 0.001}";
    EXPECT_EQ(complaint_of_schedule(fine, 1U << 13U), "accepted");
    EXPECT_THAT(complaint_of_schedule(fine, (1U << 13U) + 1),
                AllOf(HasSubstr("transfers.gamma_chunk"), HasSubstr("16386 pieces, beyond 16384")));
    // A length of batches alone cuts nothing that need not be cut.
    EXPECT_EQ(complaint_of_schedule("{policy: caramel, gamma: 0.001}", 1ULL << 40U), "accepted");
    EXPECT_EQ(complaint_of_schedule("{policy: caramel, gamma: 0.001, batching: false}", 1U << 30U),
              "accepted");
}

TEST(TransferPolicies, ASectionHoldsWhatIsForAnOverride) {
    const GroupForecast forecast = two_layers(2, 2);
    const std::string sections = "fusion: {cycle: 7ps}, priority: {partition: 1B}";
    // α = 1: both from 7 to 12, the next ones from 21 to 26.
    EXPECT_EQ(steady_ps("{policy: fusion, " + sections + "}", forecast, cost()), 14U);
    EXPECT_EQ(steady_ps("{policy: priority, " + sections + "}", forecast, cost()), 11U);
    // What stands beside the policy goes first.
    EXPECT_EQ(steady_ps("{policy: fusion, cycle: 0ns, " + sections + "}", forecast, cost()), 10U);
}

}  // namespace
}  // namespace astra
