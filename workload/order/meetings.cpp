#include "workload/order/meetings.h"

namespace astra {

namespace {

std::uint64_t pack(const RankOp& at) {
    return (std::uint64_t{at.rank} << 32U) | at.op;
}

}  // namespace

Meetings::Meetings(const OpMatching& matching, bool rendezvous)
    : matching_(matching), rendezvous_(rendezvous), missing_(matching.meetings(), kUncounted) {
    for (std::uint32_t rank = 0; rank < matching.ranks(); ++rank) {
        reached_.emplace_back(matching.program(rank).graph().size());
    }
}

bool Meetings::was_reached(const RankOp& at) const {
    return reached_[at.rank][at.op];
}

void Meetings::reach_collective(const RankOp& at, std::vector<RankOp>& ended) {
    const Meeting meeting = matching_.meeting_of(at);
    std::uint32_t& missing = missing_[meeting.id];
    if (missing == kUncounted) {
        missing = 0;
        matching_.for_members(meeting, [&](const RankOp&) { ++missing; });
    }
    if (--missing == 0) {
        matching_.for_members(meeting, [&](const RankOp& member) { ended.push_back(member); });
    }
}

void Meetings::reach(const RankOp& at, std::vector<RankOp>& ended) {
    reached_[at.rank][at.op] = true;
    const OpKind kind = matching_.program(at.rank).graph().kind[at.op];
    if (kind == OpKind::Collective) {
        reach_collective(at, ended);
        return;
    }
    if (kind != OpKind::Send && kind != OpKind::Recv) {
        ended.push_back(at);
        return;
    }
    kind == OpKind::Send ? reach_send(at, ended) : reach_receive(at, ended);
}

void Meetings::reach_send(const RankOp& at, std::vector<RankOp>& ended) {
    const auto receive = receives_.find(pack(at));
    const bool receiver_came = receive != receives_.end();
    // Eager sends, most of all ops of some traces, do not ask for their receives.
    if (receiver_came || !rendezvous_ || matching_.partner_of(at).op == kNoOp) {
        ended.push_back(at);
    }
    if (receiver_came) {
        ended.push_back(receive->second);
        receives_.erase(receive);
    }
}

void Meetings::reach_receive(const RankOp& at, std::vector<RankOp>& ended) {
    const RankOp send = matching_.partner_of(at);
    if (send.op == kNoOp) {
        ended.push_back(at);
    } else if (was_reached(send)) {
        ended.push_back(at);
        if (rendezvous_) {
            ended.push_back(send);
        }
    } else {
        receives_.emplace(pack(send), at);
    }
}

RankOp Meetings::missing_for(const RankOp& at) const {
    const OpKind kind = matching_.program(at.rank).graph().kind[at.op];
    if (kind != OpKind::Collective) {
        return matching_.partner_of(at);
    }
    RankOp missing;
    matching_.for_members(matching_.meeting_of(at), [&](const RankOp& member) {
        if (missing.op == kNoOp && !was_reached(member)) {
            missing = member;
        }
    });
    return missing;
}

}  // namespace astra
