// Merged-gradient wait-free back-propagation. Shi, Chu, Li, "MG-WFBP: efficient data communication
// for distributed synchronous SGD algorithms" (2019), algorithm 1.
#include <algorithm>
#include <deque>
#include <map>

#include "system/transfer/policy.h"

namespace astra {
namespace {

// By transfer, the number of the merged transfer that it belongs to. A gradient is merged into the
// next one to come where its transfer would not have started by then, or where the start costs more
// than the wait.
std::vector<std::uint32_t> merge(const GroupForecast& forecast, const TransferCost& cost) {
    const auto& transfers = forecast.transfers;
    std::vector<std::uint32_t> merged;
    std::uint32_t number = 0;
    std::uint64_t free_ps = 0;
    Bytes bytes;
    for (std::size_t t = 0; t < transfers.size(); ++t) {
        merged.push_back(number);
        bytes = bytes + transfers[t].bytes;
        const std::uint64_t start_ps = std::max(transfers[t].ready.ps, free_ps);
        if (t + 1 < transfers.size()) {
            const std::uint64_t next_ps = transfers[t + 1].ready.ps;
            if (start_ps >= next_ps || next_ps - start_ps < cost.alpha.ps) {
                continue;
            }
        }
        free_ps = saturating_add(start_ps, cost.at(bytes).ps);
        bytes = {};
        ++number;
    }
    return merged;
}

class MgWfbpSchedule final : public TransferSchedule {
  public:
    explicit MgWfbpSchedule(std::vector<std::uint32_t> merged)
        : merged_(std::move(merged)), size_(merged_.empty() ? 0 : merged_.back() + 1) {
        for (const std::uint32_t number : merged_) {
            ++size_[number];
        }
    }

    void ready(const ReadyTransfer& transfer) override {
        const std::uint32_t number = merged_[transfer.transfer];
        auto& pieces = waiting_[{transfer.iteration, number}];
        pieces.push_back({transfer.iteration, transfer.transfer, transfer.bytes});
        if (pieces.size() == size_[number]) {
            complete_.push_back(std::move(pieces));
            waiting_.erase({transfer.iteration, number});
        }
    }
    Launch next(const TransferLoad& load) override {
        Launch launch;
        if (load.launches == 0 && !complete_.empty()) {
            launch.pieces = std::move(complete_.front());
            complete_.pop_front();
        }
        return launch;
    }

  private:
    std::vector<std::uint32_t> merged_;
    std::vector<std::uint32_t> size_;  // of a merged transfer, in tensors
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<TransferPiece>> waiting_;
    std::deque<std::vector<TransferPiece>> complete_;
};

class MgWfbp final : public TransferPolicy {
  public:
    std::unique_ptr<TransferSchedule> schedule(const GroupForecast& forecast,
                                               const TransferCost& cost) const override {
        return std::make_unique<MgWfbpSchedule>(merge(forecast, cost));
    }
};

std::unique_ptr<const TransferPolicy> read(const TransferParameters&) {
    return std::make_unique<MgWfbp>();
}

}  // namespace

extern const TransferPolicyInfo kMgWfbpPolicy;
const TransferPolicyInfo kMgWfbpPolicy = {
    "mg-wfbp",
    "Gradients merged beforehand where waiting for the next one costs less than another start.",
    {},
    read};

}  // namespace astra
