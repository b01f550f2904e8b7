// The recording backend passes on what it is given, and sees when it arrives.
#include "network/backend/recording_backend.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "network/backend/message_log.h"
#include "tests/network/test_network.h"

namespace astra {
namespace {

// Sends the next message from within the delivery of the one before, as the layers above do.
class Relay {
  public:
    Relay(EventQueue& queue, NetworkBackend& network) : queue_(queue), network_(network) {}
    void hop(std::uint64_t rank) {
        arrivals_ps.push_back(queue_.now().ps);
        if (rank < 3) {
            const auto at = static_cast<std::uint32_t>(rank);
            network_.send({RankId{at}, RankId{at + 1}, kMiB},
                          queue_.now(),
                          Callback::to<&Relay::hop>(*this, rank + 1));
        }
    }
    std::vector<std::uint64_t> arrivals_ps;

  private:
    EventQueue& queue_;
    NetworkBackend& network_;
};

// A line of 1 MiB messages through a switch at 50 GiB/s and 500 ns: 1,000,000 + 19,531,250 ps each.
TEST(RecordingBackendTest, KeepsWhenMessagesWereOnTheirWay) {
    constexpr std::uint64_t kStep = 20'531'250;
    for (const bool numbers : {false, true}) {
        EventQueue queue;
        const Topology topology = build({{"switch", 8, gib_a_second(50), 500'000}});
        const ConfigTree no_keys = ConfigTree::empty_map("test");
        Routing routing(topology, RoutePolicy::DimensionOrder, 1);
        const auto inner =
            backends().find("congestion_unaware")->build(queue, routing, no_keys.root());
        Recorder recorder(queue);
        MessageLog log;
        recorder.subscribe(log, SpanKind::Message);
        RecordingBackend recording(*inner, numbers);
        recording.record(recorder.told_of(SpanKind::Message));
        Relay relay(queue, recording);
        relay.hop(0);
        // Injected later, and still on its way at the end.
        recording.send(
            {RankId{5}, RankId{6}, Bytes{0}}, {90'000'000}, Callback::to<&Relay::hop>(relay, 9));
        queue.run_until({80'000'000});
        EXPECT_EQ(relay.arrivals_ps, (std::vector<std::uint64_t>{0, kStep, 2 * kStep, 3 * kStep}));
        EXPECT_EQ(recording.delivered(), 3U);
        EXPECT_EQ(recording.link_records().size(), inner->link_records().size());
        std::vector<FlowRecord> flows = log.records();
        ASSERT_EQ(flows.size(), numbers ? 3U : 0U);
        const std::vector<std::uint64_t> ids = {1, 3, 4};
        for (std::uint32_t i = 0; i < flows.size(); ++i) {
            EXPECT_EQ(flows[i].id, ids[i]);
            EXPECT_EQ(flows[i].source, RankId{i});
            EXPECT_EQ(flows[i].destination, RankId{i + 1});
            EXPECT_EQ(flows[i].bytes, kMiB);
            EXPECT_EQ(flows[i].start.ps, i * kStep);
            EXPECT_EQ(flows[i].finish.ps, (i + 1) * kStep);
        }
        queue.run();
        EXPECT_EQ(recording.delivered(), 4U);
        flows = log.records();
        if (numbers) {
            ASSERT_EQ(flows.size(), 4U);
            EXPECT_EQ(flows[1].id, 2U);
            EXPECT_EQ(flows[1].start.ps, 90'000'000U);
            EXPECT_EQ(flows[1].finish.ps, 91'000'000U);
        }
    }
}

}  // namespace
}  // namespace astra
