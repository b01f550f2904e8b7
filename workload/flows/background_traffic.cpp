#include "workload/flows/background_traffic.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"

namespace astra {

namespace {

using Wide = unsigned __int128;

constexpr Bytes kUsualSize{std::uint64_t{1} << 16};
constexpr std::uint64_t kMostSize = std::uint64_t{1} << 40;
constexpr std::uint64_t kLongestMeanPs = std::uint64_t{1} << 56;
constexpr Duration kPatience{1'000'000'000'000};
// More than a fabric ever holds unless it is offered more than it can carry.
constexpr std::uint64_t kMostInFlight = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostInFlightARank = 16;
// Where the load tells that they pile up.
constexpr std::uint64_t kPile = std::uint64_t{1} << 10;
constexpr std::uint64_t kPileARank = 4;

// bytes · 8 · 10^12 / (rate · ranks), in 2^-32 ps. Fits for sizes up to kMostSize.
Wide mean_interval(const BackgroundConfig& config, std::uint32_t ranks) {
    const Wide bits = static_cast<Wide>(config.size.count) * 8'000'000'000'000ULL;
    return (bits << 32) / (static_cast<Wide>(config.rate.bits_per_s) * ranks);
}

// An exponential variate of mean 1 in units of 2^-32, by comparisons alone: a uniform number u that
// begins a falling run of odd length is kept with probability e^-u (von Neumann, "Various
// techniques used in connection with random digits", 1951).
std::uint64_t exponential(std::mt19937_64& random) {
    for (std::uint64_t whole = 0;; ++whole) {
        const std::uint64_t first = random();
        std::uint64_t last = first;
        bool odd = true;
        for (std::uint64_t next = random(); next < last; next = random()) {
            last = next;
            odd = !odd;
        }
        if (odd) {
            return (whole << 32) + (first >> 32);
        }
    }
}

}  // namespace

BackgroundConfig BackgroundConfig::from_config(const ConfigView& section, std::uint32_t ranks) {
    const std::array<std::string, 2> pairs = {"random", "permutation"};
    BackgroundConfig config;
    config.rate = section.at("rate").as_bandwidth();
    config.size = section.bytes_or("size", kUsualSize);
    config.permutation = section.choice_or("pairs", "random", pairs) == "permutation";
    config.seed = section.seed_or("seed", 1);
    config.start = {section.duration_or("start", {}).ps};
    if (const auto end = section.find("end")) {
        config.end = {end->as_duration().ps};
        if (config.end <= config.start) {
            end->fail("the traffic ends before it starts");
        }
    }
    if (ranks < 2) {
        section.fail("a fabric of one rank has nobody to send to");
    }
    if (config.rate.bits_per_s == 0) {
        section.at("rate").fail("a rate above 0 is expected");
    }
    if (config.size.count == 0 || config.size.count > kMostSize) {
        section.at("size").fail("a size from 1 B to 1 TiB is expected");
    }
    const Wide mean_ps = mean_interval(config, ranks) >> 32;
    if (mean_ps == 0 || mean_ps > kLongestMeanPs) {
        section.at("rate").fail(fmt::format(
            "{} ranks would send {} at this rate and size",
            ranks,
            mean_ps == 0 ? "more than a message a picosecond" : "less than a message in 20 hours"));
    }
    return config;
}

BackgroundTraffic::BackgroundTraffic(EventQueue& queue,
                                     NetworkBackend& network,
                                     const BackgroundConfig& config,
                                     std::uint32_t ranks)
    : queue_(queue),
      network_(network),
      config_(config),
      ranks_(ranks),
      random_(config.seed),
      mean_(mean_interval(config, ranks)),
      most_in_flight_(kMostInFlight + kMostInFlightARank * ranks) {
    if (!config.permutation) {
        return;
    }
    // A circle through all ranks in random order leaves no rank to itself (Sattolo, 1986).
    next_rank_.resize(ranks);
    std::iota(next_rank_.begin(), next_rank_.end(), 0U);
    for (std::uint32_t last = ranks - 1; last > 0; --last) {
        std::swap(next_rank_[last], next_rank_[below(last)]);
    }
}

const std::optional<Overload>& BackgroundTraffic::find_overload(Routing& routing) {
    overload_ = plain_overload(config_.rate, next_rank_, routing);
    if (overload_ && piles_up(*overload_)) {
        most_in_flight_ = kPile + kPileARank * ranks_;
    }
    return overload_;
}

// More than is ever allowed to be on its way, by the end of the traffic.
bool BackgroundTraffic::piles_up(const Overload& overload) const {
    const Wide rate = overload.offered.bits_per_s - overload.carried.bits_per_s;
    const Wide span_ps = config_.end.ps - config_.start.ps;
    const Wide messages = rate / 8 * span_ps / 1'000'000'000'000ULL / config_.size.count;
    return messages > most_in_flight_;
}

void BackgroundTraffic::start() {
    schedule_next(std::max(config_.start, queue_.now()));
}

void BackgroundTraffic::workload_moved() {
    last_move_ = queue_.now();
    if (paused_) {
        paused_ = false;
        schedule_next(queue_.now());
    }
}

// Poisson arrivals have no memory: after a pause they go on as if they had never stopped.
void BackgroundTraffic::schedule_next(SimTime from) {
    const Wide wait = ((mean_ * exponential(random_)) >> 32) + fraction_;
    fraction_ = static_cast<std::uint32_t>(wait);
    const Wide wait_ps = std::min<Wide>(wait >> 32, kMaxPs);
    const SimTime next = from + Duration{static_cast<std::uint64_t>(wait_ps)};
    if (next < config_.end) {
        queue_.schedule_at(next, Callback::to<&BackgroundTraffic::arrive>(*this));
    }
}

void BackgroundTraffic::arrive(std::uint64_t) {
    const SimTime now = queue_.now();
    if (now - last_move_ >= kPatience) {
        paused_ = true;
        return;
    }
    const std::uint64_t in_flight = messages_ - delivered_;
    if (in_flight > most_in_flight_) {
        throw SimulationError(
            fmt::format("cannot finish: {} background messages are on their way at {} ps; the "
                        "network cannot carry a rate of {} bit/s a rank{}",
                        in_flight,
                        now.ps,
                        config_.rate.bits_per_s,
                        overload_ ? ", as " + to_text(*overload_) : ""));
    }
    ++messages_;
    network_.send(draw_message(), now, Callback::to<&BackgroundTraffic::on_delivered>(*this));
    schedule_next(now);
}

Message BackgroundTraffic::draw_message() {
    const std::uint32_t source = below(ranks_);
    if (config_.permutation) {
        return {RankId{source}, RankId{next_rank_[source]}, config_.size};
    }
    const std::uint32_t other = below(ranks_ - 1);
    return {RankId{source}, RankId{other + (other >= source ? 1U : 0U)}, config_.size};
}

// The upper half of a product (Lemire, "Fast random integer generation in an interval", 2019); its
// bias of limit / 2^64 is nothing.
std::uint32_t BackgroundTraffic::below(std::uint32_t limit) {
    return static_cast<std::uint32_t>((static_cast<Wide>(random_()) * limit) >> 64);
}

}  // namespace astra
