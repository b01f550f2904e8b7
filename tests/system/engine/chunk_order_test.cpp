// Which of the chunks that wait for a dimension goes first.
//
// Two ranks at 1 GB/s, 1 ns a byte, without latencies or delays: an all_reduce of s bytes by direct
// exchange moves s/2 there and s/2 back, s ns. One chunk runs at a time.
#include <map>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "tests/support/experiment.h"

namespace astra {
namespace {

constexpr std::uint64_t kNsPs = 1000;

// Three all_reduces come at once, in two chunks each: A of 4000 B with the priority 2, B of 1000 B
// with 1, C of 2000 B with 3. A chunk of A finds the dimension free; the other one, B0, B1, C0 and
// C1 wait, and came in this order. When each collective ends, in ns.
std::map<std::uint64_t, std::uint64_t> ends_ns(const std::string& scheduling,
                                               const std::string& chunk_order) {
    test::Experiment experiment;
    experiment.dimensions = {{"FullyConnected", 2, 1, 0}};
    experiment.network_unit = "GB";
    experiment.backend = "congestion_aware";
    experiment.algorithms = {"direct"};
    experiment.chunks = 2;
    experiment.endpoint_delay_ns = 0;
    experiment.memory_bandwidth = 0;
    experiment.settings = {"system.streams.communication=3",
                           "system.scheduling=" + scheduling,
                           "system.chunk_order=" + chunk_order};
    test::Trace trace = {test::collective(1, CollectiveKind::AllReduce, 4000),
                         test::collective(2, CollectiveKind::AllReduce, 1000),
                         test::collective(3, CollectiveKind::AllReduce, 2000)};
    trace[0].priority = 2;
    trace[1].priority = 1;
    trace[2].priority = 3;
    experiment.traces = test::everywhere(2, trace);
    std::map<std::uint64_t, std::uint64_t> ends;
    for (const CollectiveRecord& record : test::run(experiment).collectives) {
        ends[record.bytes.count] = record.end.ps / kNsPs;
    }
    return ends;
}

using Ends = std::map<std::uint64_t, std::uint64_t>;  // by bytes: B, C, A

TEST(ChunkOrderTest, PriorityIsOfTheCollective) {
    // A0 A1 B0 B1 C0 C1
    EXPECT_EQ(ends_ns("fifo", "priority"), (Ends{{4000, 4000}, {1000, 5000}, {2000, 7000}}));
    // A0, then C0 C1 B0 B1 A1
    EXPECT_EQ(ends_ns("lifo", "priority"), (Ends{{2000, 4000}, {1000, 5000}, {4000, 7000}}));
    // A0, then C0 C1 A1 B0 B1
    EXPECT_EQ(ends_ns("priority", "priority"), (Ends{{2000, 4000}, {4000, 6000}, {1000, 7000}}));
}

TEST(ChunkOrderTest, FirstComeFirstServedWhateverThePriority) {
    // A0 A1 B0 B1 C0 C1
    EXPECT_EQ(ends_ns("priority", "fifo"), (Ends{{4000, 4000}, {1000, 5000}, {2000, 7000}}));
}

TEST(ChunkOrderTest, LastComeFirstServedWhateverThePriority) {
    // A1, then C1 C0 B1 B0 A0
    EXPECT_EQ(ends_ns("fifo", "lifo"), (Ends{{2000, 4000}, {1000, 5000}, {4000, 7000}}));
}

TEST(ChunkOrderTest, SmallestFirst) {
    // A0 of 2000 B, then B0 B1 of 500, C0 C1 of 1000, A1
    EXPECT_EQ(ends_ns("fifo", "smallest_first"), (Ends{{1000, 3000}, {2000, 5000}, {4000, 7000}}));
}

// One all_reduce over two dimensions of two, the second twice as fast, in three chunks of s bytes:
// T = s/2 ns for the reduce_scatter in the first, T/2 for the all_reduce of s/2 in the second, T
// for the all_gather in the first. Chunk c is R, then comes back as G:
//   came first       R0 R1 R2 G0 G1 G2, none has to wait: 6 T
//   came last        R2 R1 while R0 waits; G2, which came at 1.5 T; G1, at 2.5 T; R0 at last, from
//                    4 T to 5 T; G0 half a T later: 6.5 T
std::uint64_t over_two_dimensions_ns(const std::string& chunk_order) {
    return test::run_study(
               fmt::format("workload: {{generate: {{kind: collective, bytes: 12000B}}}}\n"
                           "system:\n"
                           "  chunks: 3\n"
                           "  endpoint_delay: 0ns\n"
                           "  chunk_order: {}\n"
                           "  collectives: {{all_reduce: direct}}\n"
                           "network:\n"
                           "  backend: congestion_aware\n"
                           "  dimensions:\n"
                           "    - {{topology: fully_connected, ranks: 2, bandwidth: 1GB/s}}\n"
                           "    - {{topology: fully_connected, ranks: 2, bandwidth: 2GB/s}}\n",
                           chunk_order))
               .simulated.ps /
           kNsPs;
}

TEST(ChunkOrderTest, OfOneCollective) {
    constexpr std::uint64_t kTNs = 2000;
    EXPECT_EQ(over_two_dimensions_ns("fifo"), 6 * kTNs);
    EXPECT_EQ(over_two_dimensions_ns("priority"), 6 * kTNs);
    EXPECT_EQ(over_two_dimensions_ns("lifo"), 6 * kTNs + kTNs / 2);
}

// The collective is one, and its chunks are alike in both phases of the first dimension: the
// last criterion decides.
TEST(ChunkOrderTest, AmongEqualsTheNextCriterionDecides) {
    constexpr std::uint64_t kTNs = 2000;
    EXPECT_EQ(over_two_dimensions_ns("[priority, smallest_first]"), 6 * kTNs);
    EXPECT_EQ(over_two_dimensions_ns("[priority, smallest_first, lifo]"), 6 * kTNs + kTNs / 2);
    EXPECT_EQ(over_two_dimensions_ns("[fifo, lifo]"), 6 * kTNs);
}

TEST(ChunkOrderTest, RefusesWhatIsNoOrder) {
    const auto error = [](const std::string& chunk_order) -> std::string {
        try {
            over_two_dimensions_ns(chunk_order);
        } catch (const ConfigError& refused) {
            return refused.what();
        }
        return "no error";
    };
    EXPECT_THAT(error("[fifo, lifo, fifo]"),
                testing::HasSubstr(":5:29: system.chunk_order.2: 'fifo' is in the list already"));
    EXPECT_THAT(error("[]"), testing::HasSubstr("names no order"));
    EXPECT_THAT(error("[fifo, last]"), testing::HasSubstr("'last' is not one of"));
    EXPECT_THAT(error("{}"), testing::HasSubstr("system.chunk_order"));
}

}  // namespace
}  // namespace astra
