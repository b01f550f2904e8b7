// What Caramel does with transfers once its thresholds are settled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "astra/core/types.h"
#include "system/transfer/policies/pending.h"
#include "system/transfer/policy.h"

namespace astra {

struct CaramelRules {
    Bytes batch;              // a batch is closed at this length; 0: a tensor a batch
    Bytes chunk;              // longer tensors are cut into such parts, and where a batch is full
    bool by_deadline = true;  // earliest end boundary first; or first come, first served
    bool waits = false;       // for a gradient that comes sooner than a start costs
    std::uint32_t depth = 1;  // launches that have not ended
};

class CaramelSchedule final : public TransferSchedule {
  public:
    CaramelSchedule(const GroupForecast& forecast,
                    const TransferCost& cost,
                    const CaramelRules& rules)
        : forecast_(forecast), cost_(cost), rules_(rules) {}

    void ready(const ReadyTransfer& transfer) override;
    Launch next(const TransferLoad& load) override;
    std::string describe() const override;

  private:
    Bytes part_for(const PendingTransfer& transfer, bool first, Bytes filled) const;
    // Until when it is better to launch nothing.
    std::optional<SimTime> worth_waiting(SimTime now) const;

    const GroupForecast& forecast_;
    TransferCost cost_;
    CaramelRules rules_;
    PendingTransfers pending_;
    Bytes waiting_;
    std::uint64_t come_ = 0;
    ReadyTransfer last_;
};

}  // namespace astra
