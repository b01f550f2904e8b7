// Tensor fusion. Sergeev, Del Balso, "Horovod: fast and easy distributed deep learning in
// TensorFlow" (2018).
#include <deque>

#include "system/transfer/policy.h"

namespace astra {
namespace {

struct FusionParameters {
    Bytes buffer;
    Duration cycle;
    Bandwidth copy;
};

class FusionSchedule final : public TransferSchedule {
  public:
    explicit FusionSchedule(const FusionParameters& parameters) : parameters_(parameters) {}

    void ready(const ReadyTransfer& transfer) override {
        waiting_.push_back({transfer.iteration, transfer.transfer, transfer.bytes});
    }

    Launch next(const TransferLoad& load) override {
        Launch launch;
        if (load.launches > 0) {
            return launch;
        }
        const SimTime due = next_cycle(load.now);
        if (waiting_.empty() || due > load.now) {
            launch.ask_again = waiting_.empty() ? SimTime{kMaxPs} : due;
            return launch;
        }
        Bytes filled;
        while (!waiting_.empty() &&
               (launch.pieces.empty() || fits(filled, waiting_.front().bytes))) {
            filled = filled + waiting_.front().bytes;
            launch.pieces.push_back(waiting_.front());
            waiting_.pop_front();
        }
        // A tensor alone is reduced where it lies.
        if (launch.pieces.size() > 1) {
            launch.before = transfer_time(filled, parameters_.copy);
            launch.after = launch.before;
        }
        return launch;
    }

  private:
    // Cycles begin at the multiples of the cycle time; one that finds the network taken passes.
    SimTime next_cycle(SimTime now) const {
        const std::uint64_t cycle_ps = parameters_.cycle.ps;
        const std::uint64_t past_ps = cycle_ps == 0 ? 0 : now.ps % cycle_ps;
        return past_ps == 0 ? now : now + Duration{cycle_ps - past_ps};
    }
    bool fits(Bytes filled, Bytes more) const {
        return more.count <= parameters_.buffer.count &&
               filled.count <= parameters_.buffer.count - more.count;
    }

    FusionParameters parameters_;
    std::deque<TransferPiece> waiting_;
};

class Fusion final : public TransferPolicy {
  public:
    explicit Fusion(const FusionParameters& parameters) : parameters_(parameters) {}
    std::unique_ptr<TransferSchedule> schedule(const GroupForecast&,
                                               const TransferCost&) const override {
        return std::make_unique<FusionSchedule>(parameters_);
    }

  private:
    FusionParameters parameters_;
};

std::unique_ptr<const TransferPolicy> read(const TransferParameters& parameters) {
    FusionParameters values;
    values.buffer = parameters.of("buffer").bytes_or("buffer", {128'000'000});
    if (values.buffer.count == 0) {
        parameters.fail("buffer", "expected a size above 0");
    }
    values.cycle = parameters.of("cycle").duration_or("cycle", {1'000'000'000});
    values.copy = parameters.of("copy").bandwidth_or("copy", {});
    return std::make_unique<Fusion>(values);
}

}  // namespace

extern const TransferPolicyInfo kFusionPolicy;
const TransferPolicyInfo kFusionPolicy = {
    .name = "fusion",
    .summary =
        "Every cycle, one transfer of the tensors that are ready, in order while they fit a "
        "buffer.",
    .parameters = {"buffer", "cycle", "copy"},
    .read = read,
};

}  // namespace astra
