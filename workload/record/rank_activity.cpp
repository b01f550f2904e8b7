#include "workload/record/rank_activity.h"

#include <algorithm>

namespace astra {

void RankActivity::pass(SimTime now) {
    if (now == last_) {
        return;
    }
    const SimTime before = last_;
    const Duration since = now - last_;
    last_ = now;
    const bool compute = is_running(Activity::Compute);
    const bool communication = is_running(Activity::Communication);
    const bool memory = is_running(Activity::Memory);
    if (compute) {
        compute_ = compute_ + since;
    }
    if (memory) {
        memory_ = memory_ + since;
    }
    if (communication) {
        communication_ = communication_ + since;
        if (turns_.empty() || turns_.back().exposed == compute) {
            turns_.push_back({before, exposed_communication_.ps, !compute});
        }
        if (!compute) {
            exposed_communication_ = exposed_communication_ + since;
        }
    } else if (memory && !compute) {
        exposed_memory_ = exposed_memory_ + since;
    }
}

// Not before communication began, nor later than now.
std::uint64_t RankActivity::exposed_until(SimTime when) const {
    auto turn = turns_.end();
    if (turns_.size() > 1) {
        turn = std::upper_bound(turns_.begin(), turns_.end(), when, [](SimTime at, const Turn& t) {
            return at < t.at;
        });
    }
    if (turn == turns_.begin()) {
        return exposed_communication_.ps;  // no time has passed
    }
    --turn;
    return turn->before_ps + (turn->exposed ? (when - turn->at).ps : 0);
}

Duration RankActivity::cut(const PeerWait& wait, SimTime now) {
    if (wait.last.at <= wait.since) {
        return {};
    }
    Stretch added{exposed_until(wait.since), exposed_until(std::min(wait.last.at, now))};
    const Duration waited{added.end_ps - added.begin_ps};
    const auto first =
        std::partition_point(stretches_.begin(), stretches_.end(), [&](const Stretch& s) {
            return s.end_ps < added.begin_ps;
        });
    auto last = first;
    for (; last != stretches_.end() && last->begin_ps <= added.end_ps; ++last) {
        added.begin_ps = std::min(added.begin_ps, last->begin_ps);
        added.end_ps = std::max(added.end_ps, last->end_ps);
    }
    stretches_.insert(stretches_.erase(first, last), added);
    return waited;
}

void RankActivity::add_stretches() {
    for (const Stretch& stretch : stretches_) {
        waiting_.ps += stretch.end_ps - stretch.begin_ps;
    }
    stretches_.clear();
}

RankActivity::Exposed RankActivity::end_communication(const PeerWait& wait, SimTime now) {
    pass(now);
    Exposed exposed;
    exposed.wait = cut(wait, now);
    const SimTime moves = std::min(std::max(wait.since, wait.last.at), now);
    const std::uint64_t from_ps = std::max(exposed_until(moves), shared_out_ps_);
    shared_out_ps_ = exposed_communication_.ps;
    exposed.transfer = {exposed_communication_.ps - from_ps};
    end(Activity::Communication, now);
    return exposed;
}

RankRecord RankActivity::record(RankId rank,
                                SimTime finish,
                                const std::vector<PeerWait>& unfinished) const {
    RankActivity all = *this;
    all.pass(finish);  // what is still running
    for (const PeerWait& wait : unfinished) {
        all.cut(wait, finish);
    }
    all.settle();
    RankRecord record;
    record.rank = rank;
    record.finish = finish;
    record.compute = all.compute_;
    record.communication = all.communication_;
    record.memory = all.memory_;
    record.exposed_communication = {all.exposed_communication_.ps - all.waiting_.ps};
    record.waiting = all.waiting_;
    record.exposed_memory = all.exposed_memory_;
    record.idle = {finish.ps - all.compute_.ps - all.exposed_communication_.ps -
                   all.exposed_memory_.ps};
    return record;
}

}  // namespace astra
