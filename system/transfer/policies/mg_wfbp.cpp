// Merged-gradient wait-free back-propagation. Shi, Chu, Li, "MG-WFBP: efficient data communication
// for distributed synchronous SGD algorithms" (2019), algorithm 1.
#include "system/transfer/policies/merged_schedule.h"
#include "system/transfer/policy.h"

namespace astra {
namespace {

class MgWfbp final : public TransferPolicy {
  public:
    std::unique_ptr<TransferSchedule> schedule(const GroupForecast& forecast,
                                               const TransferCost& cost) const override {
        return std::make_unique<MergedSchedule>(merge_as_mg_wfbp(forecast, cost));
    }
};

std::unique_ptr<const TransferPolicy> read(const TransferParameters&) {
    return std::make_unique<MgWfbp>();
}

}  // namespace

extern const TransferPolicyInfo kMgWfbpPolicy;
const TransferPolicyInfo kMgWfbpPolicy = {
    .name = "mg-wfbp",
    .summary =
        "Gradients merged beforehand where waiting for the next one costs less than another start.",
    .read = read,
};

}  // namespace astra
