// The numbers of the two analytical backends.
//
// S = 1 MiB, B = 50 GiB/s and L = 500 ns unless said: S/B = 2^20 / (50·2^30) s = 19,531,250 ps.
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "network/backend/backend.h"
#include "tests/network/test_network.h"

namespace astra {
namespace {

std::vector<std::uint64_t> run(std::string_view backend,
                               const std::vector<Shape>& shapes,
                               const std::vector<Injection>& injections) {
    const BackendInfo* info = backends().find(backend);
    if (info == nullptr) {
        throw std::invalid_argument("no such backend");
    }
    return TestNetwork(*info, shapes).run(injections);
}

const std::vector<Shape>& switch_of_8() {
    static const std::vector<Shape> shapes = {{"switch", 8, gib_a_second(50), 500'000}};
    return shapes;
}

std::vector<Injection> incast() {
    std::vector<Injection> injections;
    for (std::uint32_t source = 1; source < 8; ++source) {
        injections.push_back(inject(source, 0, kMiB));
    }
    return injections;
}

// Every rank to the one `offset` ahead.
std::vector<Injection> shift(std::uint32_t ranks, std::uint32_t offset) {
    std::vector<Injection> injections;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        injections.push_back(inject(rank, (rank + offset) % ranks, kMiB));
    }
    return injections;
}

// All seven reach the switch at L + S/B = 20,031,250 and go down one after the other, in the order
// of their sending: the k-th arrives at 2·L + (1+k)·S/B. First 2·(L + S/B) = 40,062,500, last 2·L +
// 8·S/B = 157,250,000.
TEST(CongestionAwareTest, IncastIsServedOneAfterTheOther) {
    const std::vector<std::uint64_t> arrivals = run("congestion_aware", switch_of_8(), incast());
    for (std::size_t k = 1; k <= 7; ++k) {
        EXPECT_EQ(arrivals[k - 1], 1'000'000 + (1 + k) * 19'531'250);
    }
    EXPECT_EQ(arrivals.front(), 40'062'500U);
    EXPECT_EQ(arrivals.back(), 157'250'000U);
}

// 2·L + S/B for all.
TEST(CongestionUnawareTest, IncastMessagesDoNotMeet) {
    EXPECT_EQ(run("congestion_unaware", switch_of_8(), incast()),
              std::vector<std::uint64_t>(7, 20'531'250));
}

// Four links of the ring, each used by four messages. All move in lock-step: a message is over a
// link when the next one comes, so that each takes 4·(L + S/B) = 4·20,031,250.
TEST(CongestionAwareTest, ShiftAcrossARing) {
    EXPECT_EQ(run("congestion_aware", {{"ring", 8, gib_a_second(50), 500'000}}, shift(8, 4)),
              std::vector<std::uint64_t>(8, 80'125'000));
}

// 4·L + S/B.
TEST(CongestionUnawareTest, ShiftAcrossARing) {
    EXPECT_EQ(run("congestion_unaware", {{"ring", 8, gib_a_second(50), 500'000}}, shift(8, 4)),
              std::vector<std::uint64_t>(8, 4 * 500'000 + 19'531'250));
}

// Rank r has the coordinates (r mod 4, r / 4). Those with r mod 4 < 3 go one up in either
// dimension: 100 ns on the ring, 2·1000 ns over the switch, 2^20 / (25·2^30) s = 39,062.5 ns on the
// slower one; 41,162.5 ns together. From r mod 4 = 3 the carry takes it two up in dimension 1,
// which is the same path over a switch.
TEST(CongestionUnawareTest, ShiftOverTwoDimensions) {
    EXPECT_EQ(
        run("congestion_unaware",
            {{"ring", 4, gib_a_second(100), 100'000}, {"switch", 4, gib_a_second(25), 1'000'000}},
            shift(16, 5)),
        std::vector<std::uint64_t>(16, 41'162'500));
}

TEST(CongestionAwareTest, TwoMessagesOnOneLinkFollowOneAnother) {
    EXPECT_EQ(run("congestion_aware",
                  {{"ring", 4, gib_a_second(50), 500'000}},
                  {inject(0, 1, kMiB), inject(0, 1, kMiB)}),
              (std::vector<std::uint64_t>{20'031'250, 20'031'250 + 19'531'250}));
}

TEST(CongestionAwareTest, MessagesOnDifferentLinksDoNotWait) {
    EXPECT_EQ(run("congestion_aware",
                  {{"ring", 4, gib_a_second(50), 500'000}},
                  {inject(0, 1, kMiB), inject(1, 2, kMiB), inject(1, 0, kMiB)}),
              std::vector<std::uint64_t>(3, 20'031'250));
}

// The second is sent last but injected first. The one injected at 1,000 ps waits for its wire time.
TEST(CongestionAwareTest, TheFirstInjectedIsServedFirst) {
    EXPECT_EQ(run("congestion_aware",
                  {{"ring", 4, gib_a_second(50), 500'000}},
                  {inject(0, 1, kMiB, 1'000), inject(0, 1, kMiB, 0), inject(0, 1, kMiB, 999)}),
              (std::vector<std::uint64_t>{
                  500'000 + 3 * 19'531'250, 500'000 + 19'531'250, 500'000 + 2 * 19'531'250}));
}

// A message of 0 bytes does not overtake: it waits for the wire and arrives with the one before it.
TEST(CongestionAwareTest, AnEmptyMessageWaitsItsTurn) {
    EXPECT_EQ(run("congestion_aware",
                  {{"ring", 4, gib_a_second(50), 500'000}},
                  {inject(0, 1, kMiB), inject(0, 1, {0}), inject(0, 1, kMiB)}),
              (std::vector<std::uint64_t>{20'031'250, 20'031'250, 39'562'500}));
}

// Waiting uses the wire without a gap: n messages take n wire times, whatever their sizes.
TEST(CongestionAwareTest, ABusyLinkHasNoGaps) {
    std::vector<Injection> injections;
    std::uint64_t wires_ps = 0;
    for (std::uint64_t i = 1; i <= 500; ++i) {
        const Bytes size{i * 7'919};
        injections.push_back(inject(2, 3, size, i));
        wires_ps += transfer_time(size, gib_a_second(50)).ps;
    }
    const std::vector<std::uint64_t> arrivals =
        run("congestion_aware", {{"ring", 4, gib_a_second(50), 500'000}}, injections);
    EXPECT_EQ(arrivals.back(), 1 + wires_ps + 500'000);
    EXPECT_TRUE(std::is_sorted(arrivals.begin(), arrivals.end()));
}

}  // namespace
}  // namespace astra
