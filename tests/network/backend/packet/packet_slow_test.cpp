// What takes long: waiting times of queueing theory, fairness in the long run, large sets.
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network/backend/packet/packet_network.h"

namespace astra {
namespace {

constexpr double kServicePs = 81'920;  // mean: 4096 bytes at 400 Gb/s
constexpr double kLatencyPs = 500'000;

// Messages come to one link as a Poisson stream; each is one packet.
class PoissonStream {
  public:
    PoissonStream(double load, bool exponential_sizes, std::uint64_t messages)
        : network_(one_dimension("ring", 2), "mtu: 4MiB"),
          load_(load),
          exponential_sizes_(exponential_sizes),
          left_(messages) {}

    // The waiting time of each message, in service times.
    std::vector<double> run() {
        come(0);
        network_.queue().run();
        return waits_;
    }

  private:
    struct Coming {
        double at_ps = 0;
        double service_ps = 0;
    };

    double exponential(double mean) {
        const double uniform = static_cast<double>((random_() >> 11) + 1) * 0x1p-53;
        return -mean * std::log(uniform);
    }
    void come(std::uint64_t) {
        if (left_-- == 0) {
            return;
        }
        const double bytes = exponential_sizes_ ? std::ceil(exponential(4096)) : 4096;
        const std::uint64_t now_ps = network_.queue().now().ps;
        coming_.push_back({static_cast<double>(now_ps), bytes * 20});
        network_.backend().send({RankId{0}, RankId{1}, {static_cast<std::uint64_t>(bytes)}},
                                {now_ps},
                                Callback::to<&PoissonStream::arrive>(*this, coming_.size() - 1));
        const auto gap_ps = static_cast<std::uint64_t>(exponential(kServicePs / load_));
        network_.queue().schedule_after({gap_ps}, Callback::to<&PoissonStream::come>(*this));
    }
    void arrive(std::uint64_t message) {
        const Coming& coming = coming_[message];
        const double now_ps = static_cast<double>(network_.queue().now().ps);
        waits_.push_back((now_ps - coming.at_ps - coming.service_ps - kLatencyPs) / kServicePs);
    }

    PacketNetwork network_;
    const double load_;
    const bool exponential_sizes_;
    std::uint64_t left_;
    std::mt19937_64 random_{12345};
    std::vector<Coming> coming_;
    std::vector<double> waits_;
};

struct Interval {
    double mean = 0;
    double half = 0;  // of the 99 % confidence interval
};

// Batch means (Law and Kelton, Simulation modeling and analysis, 9.5.3) of 30 batches after a
// tenth that warms up. 2.756 is the 0.995 quantile of Student's t with 29 degrees of freedom.
Interval batch_means(const std::vector<double>& values) {
    constexpr std::size_t batches = 30;
    const std::size_t begin = values.size() / 10;
    const std::size_t length = (values.size() - begin) / batches;
    std::vector<double> means;
    for (std::size_t b = 0; b < batches; ++b) {
        double sum = 0;
        for (std::size_t i = 0; i < length; ++i) {
            sum += values[begin + b * length + i];
        }
        means.push_back(sum / static_cast<double>(length));
    }
    Interval interval;
    for (const double mean : means) {
        interval.mean += mean / batches;
    }
    double squares = 0;
    for (const double mean : means) {
        squares += (mean - interval.mean) * (mean - interval.mean);
    }
    interval.half = 2.756 * std::sqrt(squares / (batches - 1) / batches);
    return interval;
}

// Pollaczek-Khinchine, in service times: M/D/1 waits rho / (2 (1 - rho)), M/M/1 rho / (1 - rho).
// The sizes of M/M/1 are rounded up to whole bytes, which is half a byte of 4096, within the
// interval.
TEST(PacketQueueingTest, WaitingTimesAreThoseOfTheory) {
    for (const bool exponential_sizes : {false, true}) {
        for (const double load : {0.5, 0.8, 0.95}) {
            const std::uint64_t messages = load > 0.9 ? 1'500'000 : 300'000;
            const Interval wait =
                batch_means(PoissonStream(load, exponential_sizes, messages).run());
            const double expected = load / (1 - load) / (exponential_sizes ? 1 : 2);
            EXPECT_NEAR(wait.mean, expected, wait.half) << load << " " << exponential_sizes;
            // The interval is narrow enough to tell the two from one another.
            EXPECT_LT(wait.half, expected / 8) << load << " " << exponential_sizes;
        }
    }
}

// Bound 41.94 us and the path of 4 links: 515 wire times and 4 latencies = 44.19 us.
TEST(PacketPermutationTest, Of1024RanksStaysNearTheBound) {
    for (const std::string transport : {"none", "ndp"}) {
        PacketNetwork network(leaf_spine(32, 32, 32), "transport: " + transport);
        network.send_all(derangement(1024, {2 << 20}, 1));
        const std::uint64_t last_ps = network.run();
        EXPECT_GE(last_ps, 515 * 81'920 + 4 * 500'000U) << transport;
        EXPECT_LE(last_ps, 56'000'000U) << transport;
    }
}

// Two flows over one link, the second 2 ms after the first. At the fixed point of the fluid model
// (Zhu et al., section 5.1) the rates are equal: half of the link each. It
// takes them some 80 ms with these timers.
TEST(DcqcnFairnessTest, TwoFlowsConvergeToHalfOfTheLink) {
    PacketNetwork network(one_dimension("switch", 3), "transport: dcqcn");
    network.send(1, 0, {std::uint64_t{1} << 40});
    network.send(2, 0, {std::uint64_t{1} << 40}, 2'000'000'000);
    const auto received = [&](std::uint32_t flow) {
        return static_cast<double>(network.backend().fabric().flow(flow).received);
    };
    network.queue().run_until({90'000'000'000});
    const double first_before = received(0);
    const double second_before = received(1);
    network.queue().run_until({170'000'000'000});
    const double first = received(0) - first_before;
    const double second = received(1) - second_before;
    // 80 ms at line rate are 976,562 packets.
    EXPECT_GT(first + second, 0.98 * 976'562);
    const double jain =
        (first + second) * (first + second) / (2 * (first * first + second * second));
    EXPECT_GT(jain, 0.99) << first << " and " << second;
    EXPECT_EQ(network.sum().drops, 0U);
}

}  // namespace
}  // namespace astra
