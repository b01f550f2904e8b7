// Priorities and partitions. Jayarajan et al., "Priority-based parameter propagation for
// distributed DNN training" (P3, 2019); Peng et al., "A generic communication scheduler for
// distributed DNN training acceleration" (ByteScheduler, 2019).
#include <algorithm>

#include <fmt/format.h>

#include "system/transfer/policies/pending.h"
#include "system/transfer/policies/pieces.h"
#include "system/transfer/policy.h"

namespace astra {
namespace {

constexpr Bytes kUsualPartition{4'096'000};
constexpr std::uint64_t kUsualCredit = 4;  // partitions
// The pieces of an iteration and group: each is a collective, and unlimited credit starts them all.
constexpr std::uint64_t kMostPieces = std::uint64_t{1} << 20U;

struct PriorityParameters {
    Bytes partition;
    Bytes credit;
};

class PrioritySchedule final : public TransferSchedule {
  public:
    PrioritySchedule(const GroupForecast& forecast, const PriorityParameters& parameters)
        : forecast_(forecast), parameters_(parameters) {}

    void ready(const ReadyTransfer& transfer) override {
        pending_.add({transfer.iteration,
                      forecast_.transfers[transfer.transfer].priority,
                      transfer.transfer,
                      transfer.bytes});
    }
    Launch next(const TransferLoad& load) override {
        Launch launch;
        if (pending_.empty()) {
            return launch;
        }
        PendingTransfer& first = pending_.first();
        const Bytes part = std::min(first.left, parameters_.partition);
        if (load.bytes.count > parameters_.credit.count - part.count) {
            return launch;
        }
        launch.pieces.push_back({first.iteration, first.transfer, part});
        first.left.count -= part.count;
        if (first.left.count == 0) {
            pending_.drop_first();
        }
        return launch;
    }

  private:
    const GroupForecast& forecast_;
    PriorityParameters parameters_;
    PendingTransfers pending_;
};

class Priority final : public TransferPolicy {
  public:
    // `partition`: where it stands in the study, or would.
    Priority(const PriorityParameters& parameters, const ConfigView& partition)
        : parameters_(parameters), partition_(partition) {}
    bool barrier() const override { return false; }
    std::unique_ptr<TransferSchedule> schedule(const GroupForecast& forecast,
                                               const TransferCost&) const override {
        const std::uint64_t pieces = pieces_of(forecast, parameters_.partition);
        if (pieces > kMostPieces) {
            partition_.fail(fmt::format(
                "partitions of {} B cut the gradients of an iteration into {} pieces, beyond {}",
                parameters_.partition.count,
                pieces,
                kMostPieces));
        }
        return std::make_unique<PrioritySchedule>(forecast, parameters_);
    }

  private:
    PriorityParameters parameters_;
    ConfigView partition_;
};

Bytes read_credit(const TransferParameters& parameters, Bytes partition) {
    const ConfigView section = parameters.of("credit");
    const auto given = section.find("credit");
    if (given && given->as_string() == "unlimited") {
        return {kMaxPs};
    }
    const Bytes usual{saturating_multiply(kUsualCredit, partition.count)};
    const Bytes credit = section.bytes_or("credit", usual);
    if (credit < partition) {
        parameters.fail("credit",
                        fmt::format("a credit of {} B is smaller than a partition of {} B: no "
                                    "partition could ever be sent",
                                    credit.count,
                                    partition.count));
    }
    return credit;
}

std::unique_ptr<const TransferPolicy> read(const TransferParameters& parameters) {
    PriorityParameters values;
    values.partition = parameters.of("partition").bytes_or("partition", kUsualPartition);
    if (values.partition.count == 0) {
        parameters.fail("partition", "expected a size above 0");
    }
    values.credit = read_credit(parameters, values.partition);
    const ConfigView section = parameters.of("partition");
    return std::make_unique<Priority>(values, section.find("partition").value_or(section));
}

}  // namespace

extern const TransferPolicyInfo kPriorityPolicy;
const TransferPolicyInfo kPriorityPolicy = {
    .name = "priority",
    .summary =
        "Tensors cut into partitions; those that the next forward pass needs first go first, also "
        "between the partitions of another.",
    .parameters = {"partition", "credit"},
    .read = read,
};

}  // namespace astra
