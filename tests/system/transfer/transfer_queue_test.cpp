// The transfer queue over real collectives, asked by hand.
#include "system/transfer/transfer_queue.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"
#include "network/backend/backend.h"
#include "network/topology/topology_reader.h"
#include "system/run/sandbox.h"
#include "workload/custom_collective/program_files.h"

namespace astra {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kRanks = 4;
constexpr const char* kNetwork =
    "{dimensions: [{topology: ring, ranks: 4, bandwidth: 1GB/s, latency: 1us}]}";

// A group of four ranks that ask for transfers at given times.
class QueueOfFour {
  public:
    QueueOfFour(const std::string& policy,
                const GroupForecast& forecast,
                const char* backend = "congestion_aware")
        : policy_text_(ConfigTree::parse_text("transfers: " + policy, "study")),
          network_text_(ConfigTree::parse_text(kNetwork, "network")),
          topology_(read_topology(network_text_.root())),
          network_(topology_, *backends().find(backend), network_text_.root()),
          config_(EngineConfig::from_config(policy_text_.root(), 1, ProgramFiles())),
          policy_(read_transfer_policy(policy_text_.root())),
          engine_(network_.queue(),
                  network_.backend(),
                  network_.routing(),
                  network_.info(),
                  network_.keys(),
                  config_,
                  warnings_),
          timer_(topology_, network_.info(), network_.keys(), config_),
          transfers_(network_.queue(), engine_, *policy_, timer_) {
        group_ = engine_.add_group("all", {0, 1, 2, 3});
        transfers_.record_tensors();
        CollectiveRequest request;
        request.kind = CollectiveKind::AllReduce;
        request.bytes = {1};
        transfers_.add_group(0, group_, forecast, request, 0);
    }

    void ask(std::uint64_t at_us,
             std::uint32_t position,
             std::uint32_t transfer,
             std::uint64_t bytes) {
        asks_.push_back({position, transfer, bytes});
        network_.queue().schedule_at({at_us * 1'000'000},
                                     Callback::to<&QueueOfFour::on_ask>(*this, asks_.size() - 1));
    }
    void ask_everywhere(std::uint64_t at_us, std::uint32_t transfer, std::uint64_t bytes) {
        for (std::uint32_t p = 0; p < kRanks; ++p) {
            ask(at_us, p, transfer, bytes);
        }
    }
    void run() { network_.queue().run(); }
    TransferQueue& transfers() { return transfers_; }
    GroupId group() const { return group_; }
    // When each member had transfer `t`, by position; in µs.
    std::vector<double> finished_us(std::uint32_t t) const {
        std::vector<double> times(kRanks, -1);
        for (const auto& [transfer, position, at] : finished_) {
            if (transfer == t) {
                times[position] = static_cast<double>(at.ps) * 1e-6;
            }
        }
        return times;
    }

  private:
    struct Ask {
        std::uint32_t position;
        std::uint32_t transfer;
        std::uint64_t bytes;
    };
    struct Finish {
        std::uint32_t transfer;
        std::uint32_t position;
        SimTime at;
    };
    void on_ask(std::uint64_t number) {
        const Ask& ask = asks_[number];
        CollectiveRequest request;
        request.kind = CollectiveKind::AllReduce;
        request.bytes = {ask.bytes};
        request.sequence = ask.transfer;
        transfers_.request(group_,
                           ask.position,
                           {0, ask.transfer, {ask.bytes}},
                           request,
                           Callback::to<&QueueOfFour::on_done>(*this, number));
    }
    void on_done(std::uint64_t number) {
        finished_.push_back(
            {asks_[number].transfer, asks_[number].position, network_.queue().now()});
    }

    ConfigTree policy_text_;
    ConfigTree network_text_;
    Topology topology_;
    Sandbox network_;
    Warnings warnings_;
    EngineConfig config_;
    std::unique_ptr<const TransferPolicy> policy_;
    CollectiveEngine engine_;
    CollectiveTimer timer_;
    TransferQueue transfers_;
    GroupId group_{};
    std::vector<Ask> asks_;
    std::vector<Finish> finished_;
};

// An all-reduce of 4·m bytes over a ring of 4 at 1 GB/s, 1 us a link, 10 ns endpoint delay, free
// reductions: 10 ns + 6 · (1 us + m ns + 10 ns), as in the ring's closed form.
constexpr double ring_us(double bytes) {
    return 0.01 + 6 * (1 + bytes / 4 / 1000 + 0.01);
}

GroupForecast forecast_of(std::vector<std::uint64_t> bytes) {
    GroupForecast forecast;
    std::uint64_t at = 0;
    for (const std::uint64_t size : bytes) {
        at += 1'000'000;
        forecast.transfers.push_back({{size},
                                      {at},
                                      {100'000'000},
                                      static_cast<std::uint32_t>(bytes.size() - at / 1'000'000)});
    }
    forecast.iteration = {100'000'000};
    return forecast;
}

TEST(TransferQueue, MeasuresTheNetworkThatItIsFor) {
    // The closed form has α = 10 ns + 6 · 1010 ns, β = 6/4 ns a byte.
    for (const char* backend : {"congestion_unaware", "congestion_aware", "flow"}) {
        QueueOfFour four("{policy: wfbp}", forecast_of({4'000'000}), backend);
        const CommunicatorRecord record = four.transfers().communicators().at(0);
        EXPECT_NEAR(static_cast<double>(record.alpha.ps), 6'070'000, 1'000) << backend;
        EXPECT_NEAR(record.beta_ps, 1500, 0.01) << backend;
        EXPECT_EQ(record.bytes.count, 4'000'000U);
    }
}

TEST(TransferQueue, WaitsForTheLastMemberAndNoLonger) {
    QueueOfFour four("{policy: wfbp}", forecast_of({4000}));
    for (std::uint32_t p = 0; p < 3; ++p) {
        four.ask(0, p, 0, 4000);
    }
    four.ask(50, 3, 0, 4000);
    four.run();
    for (const double at : four.finished_us(0)) {
        EXPECT_DOUBLE_EQ(at, 50 + ring_us(4000));
    }
    ASSERT_EQ(four.transfers().records().size(), 1U);
    EXPECT_EQ(four.transfers().records()[0].start.ps, 50'000'000U);
}

TEST(TransferQueue, TraceJoinsAtOnceAndIsRecorded) {
    QueueOfFour four("{policy: trace}", forecast_of({4000, 4000}));
    EXPECT_FALSE(four.transfers().waits());
    four.ask_everywhere(0, 0, 4000);
    four.ask_everywhere(1, 1, 4000);
    four.run();
    ASSERT_EQ(four.transfers().records().size(), 2U);
    EXPECT_EQ(four.transfers().records()[1].start.ps, 1'000'000U);
    EXPECT_DOUBLE_EQ(four.finished_us(0)[2], ring_us(4000));
}

TEST(TransferQueue, TensorsOfABatchFinishWithTheBatch) {
    QueueOfFour four("{policy: fusion, cycle: 0ns}", forecast_of({4000, 8000, 12000}));
    four.ask_everywhere(0, 0, 4000);
    four.ask_everywhere(1, 1, 8000);
    four.ask_everywhere(2, 2, 12000);
    four.run();
    // The second launch begins with the end of the first one and carries 20,000 bytes.
    const double first = ring_us(4000);
    EXPECT_DOUBLE_EQ(four.finished_us(0)[0], first);
    EXPECT_DOUBLE_EQ(four.finished_us(1)[0], first + ring_us(20000));
    EXPECT_DOUBLE_EQ(four.finished_us(2)[3], first + ring_us(20000));
    ASSERT_EQ(four.transfers().records().size(), 2U);
    EXPECT_EQ(four.transfers().records()[1].bytes.count, 20000U);
    EXPECT_EQ(four.transfers().records()[1].tensors, 2U);
}

TEST(TransferQueue, ATensorFinishesWithItsLastPart) {
    QueueOfFour four("{policy: priority, partition: 4000B, credit: 4000B}",
                     forecast_of({10000, 4000}));
    four.ask_everywhere(0, 0, 10000);
    four.ask_everywhere(1, 1, 4000);
    four.run();
    // 4000 of the first, all of the second, which passes, then 4000 and 2000 of the first.
    EXPECT_DOUBLE_EQ(four.finished_us(1)[1], 2 * ring_us(4000));
    EXPECT_DOUBLE_EQ(four.finished_us(0)[1], 3 * ring_us(4000) + ring_us(2000));
    EXPECT_EQ(four.transfers().records().size(), 4U);
    const TensorRecord cut = four.transfers().tensor_records().back();
    EXPECT_EQ(cut.transfer, 0U);
    EXPECT_EQ(cut.pieces, 3U);
    EXPECT_EQ(cut.start.ps, 0U);
}

TEST(TransferQueue, CreditBoundsWhatIsUnderWay) {
    const auto first_two = [](const std::string& credit) {
        QueueOfFour four("{policy: priority, partition: 4000B, credit: " + credit + "}",
                         forecast_of({8000}));
        four.ask_everywhere(0, 0, 8000);
        four.run();
        return std::pair(four.transfers().records()[0].start, four.transfers().records()[1].start);
    };
    const auto [a, b] = first_two("7999B");
    EXPECT_NE(a, b);
    const auto [c, d] = first_two("8000B");
    EXPECT_EQ(c, d);
    const auto [e, f] = first_two("unlimited");
    EXPECT_EQ(e, f);
}

TEST(TransferQueue, RanksThatDisagreeAreTold) {
    QueueOfFour four("{policy: wfbp}", forecast_of({4000}));
    four.ask(0, 0, 0, 4000);
    four.ask(0, 1, 0, 8000);
    try {
        four.run();
        FAIL() << "accepted";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("asks for all_reduce of 4000 B"));
    }
}

TEST(TransferQueue, SaysWhatATransferWaitsFor) {
    QueueOfFour four("{policy: none}", forecast_of({4000, 4000}));
    four.ask_everywhere(0, 0, 4000);
    four.ask(0, 2, 1, 4000);
    four.run();
    EXPECT_THAT(four.transfers().describe_waiting(four.group(), 0, {0, 0, {4000}}),
                HasSubstr("gradient 0 of iteration 0, 4000 B, ready, held back by the policy"));
    EXPECT_THAT(four.transfers().describe_waiting(four.group(), 2, {0, 1, {4000}}),
                HasSubstr("asked for by 1 of 4 ranks"));
}

}  // namespace
}  // namespace astra
