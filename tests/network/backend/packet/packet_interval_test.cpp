// What is told of links in intervals: queues over time, and the time in pauses.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network/backend/packet/packet_network.h"

namespace astra {
namespace {

// Two ranks send n packets of 1000 bytes each to a third, a packet a microsecond. Until n us two
// come for each that leaves, then none: the queue rises to n packets and falls to 0 again, and is
// n / 2 packets in the mean of 2 n us.
TEST(PacketIntervalTest, AQueueHasAMeanAndAMaximum) {
    constexpr std::uint64_t packets = 1000;
    PacketNetwork network(one_dimension("switch", 3, "8Gbps", "0ns"),
                          "transport: none, mtu: 1000B");
    std::vector<LinkSample> links;
    network.backend().sample(links);
    network.send(1, 0, {packets * 1000});
    network.send(2, 0, {packets * 1000});
    network.queue().run_until({packets * 1'000'000});
    const std::uint32_t link = network.link("switch0.0", "0");
    network.backend().sample(links);
    EXPECT_NEAR(static_cast<double>(links[link].packets.mean_queue.count), 500 * packets, 2000);
    EXPECT_NEAR(static_cast<double>(links[link].packets.most_queue.count), 1000 * packets, 2000);
    network.queue().run_until({2 * packets * 1'000'000});
    network.backend().sample(links);
    EXPECT_NEAR(static_cast<double>(links[link].packets.mean_queue.count), 500 * packets, 2000);
    EXPECT_NEAR(static_cast<double>(links[link].packets.most_queue.count), 1000 * packets, 2000);
    network.run();
    network.backend().sample(links);
    EXPECT_LE(links[link].packets.most_queue.count, 2000U);
}

// A link carries data or is paused, but for the packet that is on it when the pause comes: over an
// incast the two add up to no more than the time, and the intervals to the record of the link.
TEST(PacketIntervalTest, PausesTakeTime) {
    PacketNetwork network(one_dimension("switch", 9), "transport: dcqcn");
    std::vector<LinkSample> links;
    network.backend().sample(links);
    for (std::uint32_t source = 1; source < 9; ++source) {
        network.send(source, 0, {4 << 20});
    }
    std::vector<std::uint64_t> paused_ps(network.topology().links());
    for (std::uint64_t end_ps = 50'000'000; network.queue().size() > 0; end_ps += 50'000'000) {
        network.queue().run_until({end_ps});
        network.backend().sample(links);
        for (std::uint32_t link = 0; link < links.size(); ++link) {
            EXPECT_LE(links[link].packets.paused.ps, 50'000'000U);
            paused_ps[link] += links[link].packets.paused.ps;
        }
    }
    const std::uint64_t end_ps = network.queue().now().ps;
    std::uint64_t sum_ps = 0;
    for (const LinkRecord& record : network.backend().link_records()) {
        EXPECT_EQ(record.paused.ps, paused_ps[network.link(record.from, record.to)]);
        EXPECT_EQ(record.paused.ps == 0, record.pauses == 0);
        EXPECT_LE(record.busy.ps + record.paused.ps,
                  end_ps + record.pauses * std::uint64_t{4096 * 20});
        sum_ps += record.paused.ps;
    }
    EXPECT_GT(sum_ps, 0U);
}

}  // namespace
}  // namespace astra
