// Background traffic: how much of it comes, between whom, and when it pauses.
#include "workload/flows/background_traffic.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"

namespace astra {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000'000;

struct Sent {
    std::uint32_t source;
    std::uint32_t destination;
    std::uint64_t bytes;
    std::uint64_t at_ps;
    bool operator==(const Sent&) const = default;
};

// Delivers after a microsecond, or never.
class Sink final : public NetworkBackend {
  public:
    explicit Sink(EventQueue& queue) : queue_(queue) {}
    SimTime send(const Message& message, SimTime at, Callback delivered, Callback) override {
        sent.push_back(
            {index(message.source), index(message.destination), message.size.count, at.ps});
        if (delivers) {
            queue_.schedule_at(at + Duration{1'000'000}, delivered);
        }
        return at;
    }
    std::vector<LinkRecord> link_records() const override { return {}; }

    std::vector<Sent> sent;
    bool delivers = true;

  private:
    EventQueue& queue_;
};

// 80 Mbit/s of 1000-byte messages are 10,000 messages a second and rank.
BackgroundConfig usual() {
    BackgroundConfig config;
    config.rate = {80'000'000};
    config.size = {1000};
    return config;
}

struct Street {
    explicit Street(const BackgroundConfig& config, std::uint32_t ranks = 10)
        : sink(queue), traffic(queue, sink, config, ranks) {
        traffic.start();
    }
    EventQueue queue;
    Sink sink;
    BackgroundTraffic traffic;
};

std::vector<Sent> traffic_of(BackgroundConfig config, std::uint64_t end_ps, std::uint32_t ranks) {
    config.end = {end_ps};
    Street street(config, ranks);
    street.queue.run();
    return street.sink.sent;
}

// 10 ranks for 0.5 s: 50,000 messages expected, with a standard deviation of sqrt(50,000) = 224; of
// every rank 5,000, deviation 71. Five deviations are allowed.
TEST(BackgroundTraffic, EveryRankOffersItsRate) {
    const std::vector<Sent> sent = traffic_of(usual(), kSecond / 2, 10);
    EXPECT_NEAR(static_cast<double>(sent.size()), 50'000, 5 * 224);
    std::array<int, 10> by_source{};
    std::map<std::pair<std::uint32_t, std::uint32_t>, int> by_pair;
    for (const Sent& message : sent) {
        ASSERT_LT(message.source, 10U);
        ASSERT_LT(message.destination, 10U);
        ASSERT_NE(message.source, message.destination);
        ASSERT_EQ(message.bytes, 1000U);
        ASSERT_LT(message.at_ps, kSecond / 2);
        ++by_source[message.source];
        ++by_pair[{message.source, message.destination}];
    }
    for (const int count : by_source) {
        EXPECT_NEAR(count, 5'000, 5 * 71);
    }
    // 90 pairs: 556 each, deviation 23.6.
    EXPECT_EQ(by_pair.size(), 90U);
    for (const auto& [pair, count] : by_pair) {
        EXPECT_NEAR(count, 556, 5 * 23.6);
    }
}

// Exponential times between arrivals: of n = 50,000 the share that is longer than x means is e^-x,
// with a deviation of sqrt(p(1-p)/n).
TEST(BackgroundTraffic, ArrivalsAreMemoryless) {
    const std::vector<Sent> sent = traffic_of(usual(), kSecond / 2, 10);
    const double mean_ps = 1e12 / (10 * 10'000);
    for (const double x : {0.1, 0.5, 1.0, 1.7, 3.0, 5.0}) {
        double longer = 0;
        for (std::size_t i = 1; i < sent.size(); ++i) {
            longer += static_cast<double>(sent[i].at_ps - sent[i - 1].at_ps) > x * mean_ps ? 1 : 0;
        }
        const double n = static_cast<double>(sent.size() - 1);
        const double p = std::exp(-x);
        EXPECT_NEAR(longer / n, p, 5 * std::sqrt(p * (1 - p) / n)) << x;
    }
}

// Means of 10 ps and 1.2 ps: what is left of a picosecond must not get lost. 1000 ranks at 80
// Gbit/s send 10^11 messages of 100 B a second: in 100 ns 10,000, deviation 100; and of 12 B in 12
// ns.
TEST(BackgroundTraffic, PartsOfAPicosecondCount) {
    BackgroundConfig config;
    config.rate = {80'000'000'000};
    config.size = {100};
    EXPECT_NEAR(static_cast<double>(traffic_of(config, 100'000, 1000).size()), 10'000, 500);
    config.size = {12};  // 1.2 ps
    EXPECT_NEAR(static_cast<double>(traffic_of(config, 12'000, 1000).size()), 10'000, 500);
}

TEST(BackgroundTraffic, TheSeedAloneDecides) {
    BackgroundConfig other = usual();
    other.seed = 2;
    const std::vector<Sent> sent = traffic_of(usual(), kSecond / 100, 10);
    EXPECT_EQ(sent, traffic_of(usual(), kSecond / 100, 10));
    EXPECT_NE(sent, traffic_of(other, kSecond / 100, 10));
}

TEST(BackgroundTraffic, APermutationIsOneCircle) {
    BackgroundConfig config = usual();
    config.permutation = true;
    for (const std::uint32_t ranks : {2U, 3U, 10U}) {
        std::map<std::uint32_t, std::uint32_t> next;
        for (const Sent& message : traffic_of(config, kSecond / 20, ranks)) {
            EXPECT_EQ(next.try_emplace(message.source, message.destination).first->second,
                      message.destination);
        }
        ASSERT_EQ(next.size(), ranks);
        std::uint32_t rank = 0;
        std::uint32_t length = 0;
        do {
            rank = next[rank];
            ++length;
        } while (rank != 0);
        EXPECT_EQ(length, ranks);
    }
}

TEST(BackgroundTraffic, ComesBetweenItsStartAndItsEnd) {
    BackgroundConfig config = usual();
    config.start = {kSecond / 10};
    const std::vector<Sent> sent = traffic_of(config, kSecond / 5, 10);
    EXPECT_NEAR(static_cast<double>(sent.size()), 10'000, 500);
    EXPECT_GE(sent.front().at_ps, kSecond / 10);
    EXPECT_LT(sent.back().at_ps, kSecond / 5);
}

// Nothing moves: it stops after a second by itself, 100,000 messages (deviation 316) on, and leaves
// the queue empty. A move wakes it for another second.
TEST(BackgroundTraffic, PausesASecondAfterTheLastMove) {
    Street street(usual());
    street.queue.run();
    const std::uint64_t first = street.traffic.messages();
    EXPECT_NEAR(static_cast<double>(first), 100'000, 5 * 316);
    EXPECT_GE(street.queue.now().ps, kSecond);
    EXPECT_LT(street.sink.sent.back().at_ps, kSecond);

    const std::uint64_t woken_ps = street.queue.now().ps;
    street.traffic.workload_moved();
    street.queue.run();
    EXPECT_NEAR(static_cast<double>(street.traffic.messages() - first), 100'000, 5 * 316);
    EXPECT_GE(street.sink.sent[first].at_ps, woken_ps);
    EXPECT_LT(street.sink.sent.back().at_ps, woken_ps + kSecond);
}

TEST(BackgroundTraffic, MovesKeepItGoing) {
    Street street(usual());
    for (std::uint64_t half = 1; half <= 6; ++half) {
        street.queue.run_until({half * kSecond / 2});
        street.traffic.workload_moved();
    }
    EXPECT_NEAR(static_cast<double>(street.traffic.messages()), 300'000, 5 * 548);
    EXPECT_FALSE(street.queue.empty());
}

// 2^20 + 16·10 messages are as many as may be on their way.
TEST(BackgroundTraffic, GivesUpOnANetworkThatDeliversNothing) {
    BackgroundConfig config = usual();
    config.rate = {800'000'000'000};
    Street street(config);
    street.sink.delivers = false;
    EXPECT_THROW(street.queue.run(), SimulationError);
    EXPECT_EQ(street.traffic.messages(), (1U << 20) + 161U);
}

std::string complaint(const std::string& section, std::uint32_t ranks = 16) {
    try {
        const ConfigTree tree = ConfigTree::parse_text("background: " + section, "study.yml");
        BackgroundConfig::from_config(tree.root().at("background"), ranks);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(BackgroundConfigTest, ReadsItsKeys) {
    const ConfigTree tree = ConfigTree::parse_text(
        "{rate: 10Gbps, size: 1MiB, pairs: permutation, seed: 7, start: 1us, end: 2us}",
        "study.yml");
    const BackgroundConfig config = BackgroundConfig::from_config(tree.root(), 2);
    EXPECT_EQ(config.rate.bits_per_s, 10'000'000'000U);
    EXPECT_EQ(config.size.count, 1U << 20);
    EXPECT_TRUE(config.permutation);
    EXPECT_EQ(config.seed, 7U);
    EXPECT_EQ(config.start.ps, 1'000'000U);
    EXPECT_EQ(config.end.ps, 2'000'000U);
    EXPECT_EQ(complaint("{rate: 10Gbps}"), "");
}

TEST(BackgroundConfigTest, RefusesWhatCannotBe) {
    using testing::HasSubstr;
    EXPECT_THAT(complaint("{size: 1KiB}"), HasSubstr("the key 'rate' is missing"));
    EXPECT_THAT(complaint("{rate: 0}"), HasSubstr("background.rate: a rate above 0"));
    EXPECT_THAT(complaint("{rate: 10}"), HasSubstr("background.rate: '10'"));
    EXPECT_THAT(complaint("{rate: 1Gbps, size: 0}"), HasSubstr("background.size: a size from 1 B"));
    EXPECT_THAT(complaint("{rate: 1Gbps, size: 2TiB}"), HasSubstr("background.size: a size from"));
    EXPECT_THAT(complaint("{rate: 1Gbps, pairs: radnom}"), HasSubstr("did you mean 'random'?"));
    EXPECT_THAT(complaint("{rate: 1Gbps, start: 2us, end: 2us}"),
                HasSubstr("ends before it starts"));
    EXPECT_THAT(complaint("{rate: 900Tbps, size: 1B}"),
                HasSubstr("more than a message a picosecond"));
    EXPECT_THAT(complaint("{rate: 1bps, size: 1TiB}"),
                HasSubstr("less than a message in 20 hours"));
    EXPECT_THAT(complaint("{rate: 1Gbps}", 1), HasSubstr("nobody to send to"));
}

}  // namespace
}  // namespace astra
