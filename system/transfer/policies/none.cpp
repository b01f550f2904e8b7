// No overlap: the transfers of an iteration wait until its last gradient is there.
#include <deque>
#include <map>

#include "system/transfer/policy.h"

namespace astra {
namespace {

class NoneSchedule final : public TransferSchedule {
  public:
    explicit NoneSchedule(std::size_t transfers) : transfers_(transfers) {}

    void ready(const ReadyTransfer& transfer) override {
        auto& waiting = waiting_[transfer.iteration];
        waiting.push_back({transfer.iteration, transfer.transfer, transfer.bytes});
        if (waiting.size() == transfers_) {
            released_.insert(released_.end(), waiting.begin(), waiting.end());
            waiting_.erase(transfer.iteration);
        }
    }
    Launch next(const TransferLoad& load) override {
        Launch launch;
        if (load.launches == 0 && !released_.empty()) {
            launch.pieces.push_back(released_.front());
            released_.pop_front();
        }
        return launch;
    }

  private:
    std::size_t transfers_;  // of an iteration
    std::map<std::uint32_t, std::vector<TransferPiece>> waiting_;
    std::deque<TransferPiece> released_;
};

class None final : public TransferPolicy {
  public:
    std::unique_ptr<TransferSchedule> schedule(const GroupForecast& forecast,
                                               const TransferCost&) const override {
        return std::make_unique<NoneSchedule>(forecast.transfers.size());
    }
};

std::unique_ptr<const TransferPolicy> read(const TransferParameters&) {
    return std::make_unique<None>();
}

}  // namespace

extern const TransferPolicyInfo kNonePolicy;
const TransferPolicyInfo kNonePolicy = {
    .name = "none",
    .summary = "No overlap: a transfer a tensor, one after the other, after the last gradient.",
    .read = read,
};

}  // namespace astra
