// Transfers that wait, ready to be taken in an order that is not that of their coming.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "astra/core/types.h"

namespace astra {

// What goes first: the older iteration, then the lower urgency.
struct PendingTransfer {
    std::uint32_t iteration = 0;
    std::uint64_t urgency = 0;
    std::uint32_t transfer = 0;
    Bytes left{};
    bool before(const PendingTransfer& other) const {
        return iteration != other.iteration ? iteration < other.iteration
               : urgency != other.urgency   ? urgency < other.urgency
                                            : transfer < other.transfer;
    }
};

// add() is O(1) where what comes last goes first, as gradients do; O(waiting) at worst.
class PendingTransfers {
  public:
    void add(const PendingTransfer& transfer) {
        const auto behind = std::upper_bound(
            waiting_.begin(),
            waiting_.end(),
            transfer,
            [](const PendingTransfer& a, const PendingTransfer& b) { return b.before(a); });
        waiting_.insert(behind, transfer);
    }
    bool empty() const { return waiting_.empty(); }
    PendingTransfer& first() { return waiting_.back(); }
    void drop_first() { waiting_.pop_back(); }
    const std::vector<PendingTransfer>& all() const { return waiting_; }

  private:
    std::vector<PendingTransfer> waiting_;  // the first one at the end
};

}  // namespace astra
