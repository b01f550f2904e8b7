#include "workload/record/rank_activity.h"

namespace astra {

void RankActivity::pass(SimTime now) {
    if (now == last_) {
        return;
    }
    const Duration since = now - last_;
    last_ = now;
    const auto running = [&](Activity what) {
        return running_[static_cast<std::size_t>(what)] > 0;
    };
    const bool compute = running(Activity::Compute);
    const bool communication = running(Activity::Communication);
    const bool memory = running(Activity::Memory);
    if (compute) {
        compute_ = compute_ + since;
    }
    if (communication) {
        communication_ = communication_ + since;
    }
    if (memory) {
        memory_ = memory_ + since;
    }
    if (communication && !compute) {
        exposed_communication_ = exposed_communication_ + since;
    }
    if (memory && !compute && !communication) {
        exposed_memory_ = exposed_memory_ + since;
    }
}

RankRecord RankActivity::record(RankId rank, SimTime finish) const {
    const std::uint64_t busy_ps = compute_.ps + exposed_communication_.ps + exposed_memory_.ps;
    return {rank,
            finish,
            compute_,
            communication_,
            memory_,
            exposed_communication_,
            exposed_memory_,
            {finish.ps - busy_ps}};
}

}  // namespace astra
