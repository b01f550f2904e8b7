// Wait-free back-propagation. Zhang et al., "Poseidon: an efficient communication architecture for
// distributed deep learning on GPU clusters" (2017).
#include <deque>

#include "system/transfer/policy.h"

namespace astra {
namespace {

class WfbpSchedule final : public TransferSchedule {
  public:
    void ready(const ReadyTransfer& transfer) override {
        waiting_.push_back({transfer.iteration, transfer.transfer, transfer.bytes});
    }
    Launch next(const TransferLoad& load) override {
        Launch launch;
        if (load.launches == 0 && !waiting_.empty()) {
            launch.pieces.push_back(waiting_.front());
            waiting_.pop_front();
        }
        return launch;
    }

  private:
    std::deque<TransferPiece> waiting_;
};

class Wfbp final : public TransferPolicy {
  public:
    std::unique_ptr<TransferSchedule> schedule(const GroupForecast&,
                                               const TransferCost&) const override {
        return std::make_unique<WfbpSchedule>();
    }
};

std::unique_ptr<const TransferPolicy> read(const TransferParameters&) {
    return std::make_unique<Wfbp>();
}

}  // namespace

extern const TransferPolicyInfo kWfbpPolicy;
const TransferPolicyInfo kWfbpPolicy = {
    .name = "wfbp",
    .summary = "A transfer a tensor as soon as its gradient is ready, first come, first served.",
    .read = read,
};

}  // namespace astra
