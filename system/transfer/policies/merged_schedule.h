// Gradients merged into the same transfers in every iteration, laid down beforehand.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "system/transfer/policy.h"

namespace astra {

// For each transfer of a forecast the number of the merged transfer that it belongs to: ascending
// from 0, without a gap.
using Merging = std::vector<std::uint32_t>;

// MG-WFBP, algorithm 1: a gradient is merged into the next one to come where its transfer would not
// have started by then, or where the start costs more than the wait. O(transfers).
Merging merge_as_mg_wfbp(const GroupForecast& forecast, const TransferCost& cost);

// The merging whose last transfer ends first if each starts when its gradients are ready and the
// one before is done: no policy that merges in the order of coming and has a barrier is faster
// (ours). O(transfers²); beyond kMostMerged of them MG-WFBP's.
inline constexpr std::size_t kMostMerged = 2048;
Merging merge_for_first_end(const GroupForecast& forecast, const TransferCost& cost);

// Everything of an iteration at once.
Merging merge_all(const GroupForecast& forecast);

// One at a time, in the order in which they are complete. As nothing starts later because
// something else starts earlier, it is no slower without a barrier than with one.
class MergedSchedule final : public TransferSchedule {
  public:
    explicit MergedSchedule(Merging merged);

    void ready(const ReadyTransfer& transfer) override;
    Launch next(const TransferLoad& load) override;
    std::string describe() const override;

  private:
    Merging merged_;
    std::vector<std::uint32_t> size_;  // of a merged transfer, in tensors
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<TransferPiece>> waiting_;
    std::deque<std::vector<TransferPiece>> complete_;
};

}  // namespace astra
