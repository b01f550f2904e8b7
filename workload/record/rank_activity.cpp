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
    RankActivity all = *this;
    all.pass(finish);  // what is still running
    const std::uint64_t busy_ps =
        all.compute_.ps + all.exposed_communication_.ps + all.exposed_memory_.ps;
    return {rank,
            finish,
            all.compute_,
            all.communication_,
            all.memory_,
            all.exposed_communication_,
            all.exposed_memory_,
            {finish.ps - busy_ps}};
}

}  // namespace astra
