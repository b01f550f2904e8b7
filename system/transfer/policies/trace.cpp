#include "astra/core/check.h"
#include "system/transfer/policy.h"

namespace astra {
namespace {

class Trace final : public TransferPolicy {
  public:
    bool queues() const override { return false; }
    std::unique_ptr<TransferSchedule> schedule(const GroupForecast&,
                                               const TransferCost&) const override {
        ASTRA_CHECK(false, "what starts as recorded has no schedule");
    }
};

std::unique_ptr<const TransferPolicy> read(const TransferParameters&) {
    return std::make_unique<Trace>();
}

}  // namespace

extern const TransferPolicyInfo kTracePolicy;
const TransferPolicyInfo kTracePolicy = {
    .name = "trace",
    .summary = "As recorded: transfers start as the trace's dependencies say.",
    .read = read,
};

}  // namespace astra
