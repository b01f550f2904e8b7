// When flows of a set start and finish on the two analytical backends.
//
// B = 50·2^30 bytes a second, L = 500 ns a link; w = 1 MiB / B = 2^20 / (50·2^30) s = 19,531,250
// ps.
#include "workload/flows/flow_player.h"

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "tests/network/test_network.h"
#include "tests/support/experiment.h"
#include "tests/support/flow_text.h"

namespace astra {
namespace {

constexpr std::uint64_t kWire = 19'531'250;
constexpr std::uint64_t kLink = 500'000;

struct Times {
    std::uint64_t start_ps;
    std::uint64_t finish_ps;
    bool operator==(const Times&) const = default;
};
void PrintTo(const Times& times, std::ostream* out) {
    *out << times.start_ps << " to " << times.finish_ps;
}

class Playground {
  public:
    explicit Playground(const char* backend, std::uint32_t ranks = 8)
        : topology_(build({{"switch", ranks, gib_a_second(50), kLink}})),
          routing_(topology_, RoutePolicy::DimensionOrder, 1),
          backend_(backends().find(backend)->build(queue_, routing_, no_keys_.root())),
          player_(queue_, *backend_) {}

    void add(const std::string& text,
             std::vector<std::uint32_t> ranks,
             std::uint64_t start_ps = 0,
             const std::string& name = "") {
        FlowSet flows = FlowSet::read(folder_.write("set.flows", text),
                                      static_cast<std::uint32_t>(ranks.size()));
        player_.add_job({name, std::move(flows), std::move(ranks), {start_ps}});
    }
    void add(const std::string& text) {
        std::vector<std::uint32_t> ranks(topology_.ranks());
        std::iota(ranks.begin(), ranks.end(), 0U);
        add(text, std::move(ranks));
    }
    std::vector<Times> play() {
        player_.start();
        queue_.run();
        EXPECT_TRUE(player_.finished());
        std::vector<Times> times;
        for (const FlowRecord& flow : player_.flow_records()) {
            times.push_back({flow.start.ps, flow.finish.ps});
        }
        return times;
    }
    EventQueue& queue() { return queue_; }
    FlowPlayer& player() { return player_; }

  private:
    test::ScratchFolder folder_;
    EventQueue queue_;
    ConfigTree no_keys_ = ConfigTree::empty_map("test");
    Topology topology_;
    Routing routing_;
    std::unique_ptr<NetworkBackend> backend_;
    FlowPlayer player_;
};

// Through a switch a message takes 2L + w, and the next starts when it has come: 1 MiB, 2 MiB and
// no byte at all take 2L + w, 2L + 2w, 2L.
TEST(FlowPlayer, AChainTakesTheSumOfItsFlows) {
    Playground ground("congestion_unaware");
    ground.add("3 2 3 0 2\n1 0 1 1048576 0\n2 1 2 2097152 1\n");
    const std::uint64_t first = 2 * kLink + kWire;
    const std::uint64_t second = first + 2 * kLink + 2 * kWire;
    EXPECT_THAT(ground.play(),
                testing::ElementsAre(
                    Times{second, second + 2 * kLink}, Times{0, first}, Times{first, second}));
}

// Stored and forwarded, each link takes L + w: the chain of 1 MiB and 2 MiB takes 2(L + w) and then
// 2(L + 2w).
TEST(FlowPlayer, AChainIsStoredAndForwarded) {
    Playground ground("congestion_aware");
    ground.add("1 0 1 1048576 0\n2 1 2 2097152 1\n");
    const std::uint64_t first = 2 * (kLink + kWire);
    EXPECT_THAT(
        ground.play(),
        testing::ElementsAre(Times{0, first}, Times{first, first + 2 * (kLink + 2 * kWire)}));
}

// Both reach the switch at L + w; the port to rank 0 then carries one after the other, in the order
// of the file: L + 2w + L and L + 3w + L. A third flow waits for the second alone, and finds the
// port idle: 2(L + w) more.
TEST(FlowPlayer, TwoFlowsIntoOnePortAreServedOneAfterTheOther) {
    Playground ground("congestion_aware");
    ground.add("7 1 0 1048576 0\n5 2 0 1048576 0\n6 3 0 1048576 5\n");
    const std::uint64_t second = 2 * kLink + 3 * kWire;
    EXPECT_THAT(ground.play(),
                testing::ElementsAre(Times{0, 2 * kLink + 2 * kWire},
                                     Times{0, second},
                                     Times{second, second + 2 * (kLink + kWire)}));
}

// 30 us is after the end of flow 1 (2L + w = 20,531,250 ps), 5 us before it.
TEST(FlowPlayer, AFlowStartsAtTheLaterOfItsStartAndItsCause) {
    Playground ground("congestion_unaware");
    ground.add("1 0 1 1048576 0\n2 1 2 0 1 30us\n3 1 2 0 1 5us\n4 4 5 0 0 7us\n");
    const std::uint64_t first = 2 * kLink + kWire;
    EXPECT_THAT(ground.play(),
                testing::ElementsAre(Times{0, first},
                                     Times{30'000'000, 30'000'000 + 2 * kLink},
                                     Times{first, first + 2 * kLink},
                                     Times{7'000'000, 7'000'000 + 2 * kLink}));
}

// 2(n-1) = 30 steps of 64 KiB, each 2·500,000 + 65,536 / (50·2^30) s = 1,000,000 + 1,220,704 ps
// (1,220,703.125 rounded up).
TEST(FlowPlayer, ARingOfSixteenTakesThirtySteps) {
    Playground ground("congestion_unaware", 16);
    ground.add(test::ring_flows(16, 1U << 20));
    const std::vector<Times> times = ground.play();
    ASSERT_EQ(times.size(), 480U);
    const std::uint64_t step = 2 * kLink + 1'220'704;
    for (std::size_t flow = 0; flow < times.size(); ++flow) {
        EXPECT_EQ(times[flow], (Times{flow / 16 * step, (flow / 16 + 1) * step}));
    }
}

// Ranks of the set become ranks of the job, starts count from the start of the job.
TEST(FlowPlayer, JobsHaveRanksAndStartsOfTheirOwn) {
    Playground ground("congestion_unaware");
    ground.add("1 0 1 0 0\n", {6, 3}, 0, "left");
    ground.add("1 1 0 0 0 2us\n2 0 1 0 1\n", {1, 2}, 5'000'000, "right");
    EXPECT_THAT(ground.play(),
                testing::ElementsAre(
                    Times{0, 1'000'000}, Times{7'000'000, 8'000'000}, Times{8'000'000, 9'000'000}));
    const auto flows = ground.player().flow_records();
    EXPECT_EQ(flows[0].source, RankId{6});
    EXPECT_EQ(flows[0].destination, RankId{3});
    EXPECT_EQ(flows[0].job, 0U);
    EXPECT_EQ(flows[1].source, RankId{2});
    EXPECT_EQ(flows[2].source, RankId{1});
    EXPECT_EQ(flows[2].after, 1U);
    EXPECT_EQ(flows[2].job, 1U);
}

// Rank 0 sends from 0 to 20,531,250 (1 MiB) and from 10 us on no byte, for 1 us: the second lies
// within the first. Rank 2 is busy for that microsecond alone. Rank 3 has no flow.
TEST(FlowPlayer, RanksCommunicateForTheUnionOfTheirFlows) {
    Playground ground("congestion_unaware");
    ground.add("1 0 1 1048576 0\n2 0 2 0 0 10us\n3 0 1 0 0 50us\n");
    ground.play();
    const auto ranks = ground.player().rank_records();
    ASSERT_EQ(ranks.size(), 3U);
    const std::uint64_t first = 2 * kLink + kWire;
    EXPECT_EQ(ranks[0].communication.ps, first + 1'000'000);
    EXPECT_EQ(ranks[0].exposed_communication.ps, first + 1'000'000);
    EXPECT_EQ(ranks[0].finish.ps, 51'000'000U);
    EXPECT_EQ(ranks[0].idle.ps, 51'000'000U - first - 1'000'000);
    EXPECT_EQ(ranks[2].rank, RankId{2});
    EXPECT_EQ(ranks[2].communication.ps, 1'000'000U);
    EXPECT_EQ(ranks[2].finish.ps, 11'000'000U);
    EXPECT_EQ(ground.player().messages(), 3U);
    EXPECT_EQ(ground.player().bytes(), 1'048'576U);
}

TEST(FlowPlayer, WhoeverHasNotFinishedSaysWhatItWaitsFor) {
    Playground ground("congestion_unaware");
    ground.add("1 0 1 1048576 0\n2 1 2 8 1\n3 2 3 8 2\n4 4 5 8 0 50us\n5 6 7 0 0\n");
    ground.player().start();
    ground.queue().run_until({5'000'000});
    EXPECT_FALSE(ground.player().finished());
    EXPECT_EQ(ground.player().finished_flows(), 1U);
    EXPECT_EQ(ground.player().ranks(), 8U);
    EXPECT_EQ(ground.player().finished_ranks(), 2U);
    EXPECT_THAT(
        ground.player().describe_stuck(20),
        testing::ElementsAre("flow 1 (rank 0 -> rank 1, 1048576 B) has been on its way since 0 ps",
                             "flow 2 (rank 1 -> rank 2, 8 B) waits for flow 1",
                             "flow 3 (rank 2 -> rank 3, 8 B) waits for flow 2",
                             "flow 4 (rank 4 -> rank 5, 8 B) waits for its start at 50000000 ps"));
    EXPECT_THAT(ground.player().describe_stuck(1),
                testing::ElementsAre(testing::StartsWith("flow 1 "), "and 3 more flows"));
}

// More starts than one event makes: they keep the order of the file. 5000 flows into one port take
// 2L + (1 + k)w each, k in order; w of no byte is 0, so sizes are 1 MiB here.
TEST(FlowPlayer, ManyStartsKeepTheirOrder) {
    std::string text;
    for (std::uint32_t flow = 0; flow < 5000; ++flow) {
        text += fmt::format("{} {} 0 1048576 0\n", flow + 1, 1 + flow % 7);
    }
    Playground ground("congestion_aware");
    ground.add(text);
    const std::vector<Times> times = ground.play();
    for (std::uint64_t k = 0; k < times.size(); ++k) {
        ASSERT_EQ(times[k], (Times{0, 2 * kLink + (2 + k) * kWire})) << k;
    }
}

}  // namespace
}  // namespace astra
