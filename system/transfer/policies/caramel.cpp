// Adaptive batching, pipelining and load smoothing. Hashemi, Abdu Jyothi, Godfrey, Campbell,
// "Caramel: accelerating decentralized distributed deep learning with computation scheduling"
// (2020). The rules are its abstract's; thresholds are found by playing candidates against the
// forecast.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "system/transfer/forecast_run.h"
#include "system/transfer/policies/caramel_order.h"
#include "system/transfer/policies/caramel_schedule.h"
#include "system/transfer/policies/merged_schedule.h"
#include "system/transfer/policies/pieces.h"
#include "system/transfer/policy.h"

namespace astra {
namespace {

constexpr double kLeastFactor = 1e-3;
constexpr double kMostFactor = 1e12;
// The pieces of an iteration and group: each candidate launches them several times.
constexpr std::uint64_t kMostPieces = std::uint64_t{1} << 14U;
constexpr std::uint64_t kMostDepth = 1024;
constexpr Bytes kNoLimit{kMaxPs};
// Lengths of a batch to try: all bytes of an iteration over these.
constexpr std::array kDivisors = {
    1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0};

struct CaramelParameters {
    bool compute_scheduling = true;
    bool batching = true;
    bool pipelining = true;
    bool smoothing = true;
    bool rehearse = true;
    std::optional<double> gamma;  // nothing: by forecast
    std::optional<double> gamma_chunk;
    std::uint32_t depth = 2;
    std::optional<ConfigView> gamma_chunk_at;  // where it stands in the study
};

// Keeps the first of the schedules with the shortest forecast.
class Choice {
  public:
    Choice(const GroupForecast& forecast, const TransferCost& cost, bool barrier)
        : forecast_(forecast), cost_(cost), barrier_(barrier) {}

    // Schedules have a state: one is played, another one like it is kept.
    template <class Schedule, class... Arguments>
    void offer(const Arguments&... arguments) {
        Schedule trial(arguments...);
        const Duration time = steady_iteration(forecast_, cost_, barrier_, trial);
        if (best_ == nullptr || time < shortest_) {
            shortest_ = time;
            best_ = std::make_unique<Schedule>(arguments...);
        }
    }
    std::unique_ptr<TransferSchedule> take() { return std::move(best_); }

  private:
    const GroupForecast& forecast_;
    const TransferCost& cost_;
    bool barrier_;
    Duration shortest_;
    std::unique_ptr<TransferSchedule> best_;
};

class Caramel final : public TransferPolicy {
  public:
    explicit Caramel(const CaramelParameters& parameters) : parameters_(parameters) {}

    // Updates are moved from the end of the iteration to just before their first reader.
    bool barrier() const override { return !parameters_.compute_scheduling; }
    bool rehearses() const override { return parameters_.rehearse; }
    ComputeOrder compute_order() const override {
        return parameters_.compute_scheduling ? tightest_first : nullptr;
    }

    std::unique_ptr<TransferSchedule> schedule(const GroupForecast& forecast,
                                               const TransferCost& cost) const override {
        const auto rules = candidates(forecast, cost);
        if (rules.empty()) {
            parameters_.gamma_chunk_at->fail(fmt::format(
                "parts of {} B cut the gradients of an iteration into {} pieces, beyond {}",
                cost.bytes_for(*parameters_.gamma_chunk).count,
                pieces_of(forecast, cost.bytes_for(*parameters_.gamma_chunk)),
                kMostPieces));
        }
        Choice choice{forecast, cost, barrier()};
        for (const CaramelRules& candidate : rules) {
            choice.offer<CaramelSchedule>(forecast, cost, candidate);
        }
        if (parameters_.batching && !parameters_.gamma) {
            choice.offer<MergedSchedule>(merge_for_first_end(forecast, cost));
            choice.offer<MergedSchedule>(merge_all(forecast));
        }
        return choice.take();
    }

  private:
    std::vector<CaramelRules> candidates(const GroupForecast& forecast,
                                         const TransferCost& cost) const;

    CaramelParameters parameters_;
};

// The first one of equals is taken: longer batches, uncut. None where the chunk that was asked for
// makes too many pieces; chunks that follow the batches or all bytes leave some.
std::vector<CaramelRules> Caramel::candidates(const GroupForecast& forecast,
                                              const TransferCost& cost) const {
    double total = 0;
    for (const TransferForecast& transfer : forecast.transfers) {
        total += static_cast<double>(transfer.bytes.count);
    }
    std::vector<Bytes> lengths;
    lengths.reserve(kDivisors.size());
    for (const double divisor : kDivisors) {
        lengths.push_back({static_cast<std::uint64_t>(total / divisor) + 1});
    }
    const auto choices = [&](bool on, const std::optional<double>& factor, Bytes off) {
        return !on      ? std::vector<Bytes>{off}
               : factor ? std::vector<Bytes>{cost.bytes_for(*factor)}
                        : lengths;
    };
    const bool chunks_follow =
        parameters_.batching && parameters_.pipelining && !parameters_.gamma_chunk;
    // Lengths that we choose always keep to it.
    const std::uint64_t most_pieces =
        std::max<std::uint64_t>(kMostPieces, forecast.transfers.size() + 64);
    std::vector<CaramelRules> list;
    for (const Bytes batch : choices(parameters_.batching, parameters_.gamma, {})) {
        const auto chunks =
            chunks_follow ? std::vector<Bytes>{kNoLimit, batch}
                          : choices(parameters_.pipelining, parameters_.gamma_chunk, kNoLimit);
        for (const Bytes chunk : chunks) {
            if (chunk != kNoLimit && pieces_of(forecast, chunk) > most_pieces) {
                continue;
            }
            for (const bool waits : {false, true}) {
                if (!waits || parameters_.batching) {
                    list.push_back({batch, chunk, parameters_.smoothing, waits, parameters_.depth});
                }
            }
        }
    }
    return list;
}

std::optional<double> read_factor(const TransferParameters& parameters, std::string_view key) {
    const ConfigView section = parameters.of(key);
    if (section.string_or(key, "auto") == "auto") {
        return std::nullopt;
    }
    const double factor = section.at(key).as_number();
    if (factor < kLeastFactor || factor > kMostFactor) {
        parameters.fail(key, "expected 'auto' or a factor from 0.001 to 10^12");
    }
    return factor;
}

std::unique_ptr<const TransferPolicy> read(const TransferParameters& parameters) {
    const auto part = [&](std::string_view key) { return parameters.of(key).bool_or(key, true); };
    CaramelParameters values;
    values.compute_scheduling = part("compute_scheduling");
    values.batching = part("batching");
    values.pipelining = part("pipelining");
    values.smoothing = part("smoothing");
    values.gamma = read_factor(parameters, "gamma");
    values.gamma_chunk = read_factor(parameters, "gamma_chunk");
    if (values.gamma_chunk) {
        values.gamma_chunk_at = parameters.of("gamma_chunk").at("gamma_chunk");
    }
    values.depth =
        static_cast<std::uint32_t>(parameters.of("depth").integer_or("depth", 2, 1, kMostDepth));
    // Who takes a part away wants to see what the others do.
    const bool is_whole = values.compute_scheduling && values.batching && values.pipelining &&
                          values.smoothing && !values.gamma && !values.gamma_chunk;
    values.rehearse = parameters.of("rehearse").bool_or("rehearse", is_whole);
    return std::make_unique<Caramel>(values);
}

}  // namespace

extern const TransferPolicyInfo kCaramelPolicy;
const TransferPolicyInfo kCaramelPolicy = {
    .name = "caramel",
    .summary =
        "Batches and parts of adaptive length, earliest end boundary first, across the iterations.",
    .parameters = {"compute_scheduling",
                   "batching",
                   "pipelining",
                   "smoothing",
                   "rehearse",
                   "gamma",
                   "gamma_chunk",
                   "depth"},
    .read = read,
};

}  // namespace astra
