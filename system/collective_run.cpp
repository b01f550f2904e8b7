#include "system/collective_run.h"

#include <algorithm>
#include <utility>

#include "astra/core/check.h"
#include "system/rendezvous.h"

namespace astra {

void CollectiveRun::begin(RunContext& context,
                          RunOwner& owner,
                          std::uint64_t id,
                          const Program& program,
                          std::vector<std::uint32_t> ranks,
                          Bytes size) {
    ASTRA_CHECK(ranks.size() == program.members(), "a program runs over its number of members");
    context_ = &context;
    owner_ = &owner;
    program_ = &program;
    id_ = id;
    sizes_ = program.cut(size);
    started_ = 0;
    finished_ = 0;
    ranks_ = std::move(ranks);
    lanes_.assign(ranks_.size(), {});
    parked_.clear();
    free_parked_ = kNone;
    gates_.clear();
}

void CollectiveRun::start(std::uint32_t member) {
    Lane& lane = lanes_[member];
    ASTRA_CHECK(lane.step == kNotStarted, "a member starts once");
    ++started_;
    lane.step = 0;
    lane.clock_ps = (context_->queue.now() + context_->endpoint_delay).ps;
    const auto steps = program_->steps(member);
    lane.waiting = steps[0].receives;
    if (lane.waiting > 0) {
        ask_for(member, steps[0]);
        take_parked(member);
    }
    if (lane.waiting == 0) {
        advance(member);
    }
}

// Starts the sends of the step that the lane has completed, and of all that follow without waiting.
void CollectiveRun::advance(std::uint32_t member) {
    Lane& lane = lanes_[member];
    const auto steps = program_->steps(member);
    while (true) {
        const Program::Step& done = steps[lane.step];
        for (std::uint32_t i = 0; i < done.sends; ++i) {
            issue(member, done.first_send + i);
        }
        if (++lane.step == steps.size()) {
            break;
        }
        const Program::Step& step = steps[lane.step];
        lane.waiting = step.receives;
        ask_for(member, step);
        take_parked(member);
        if (lane.waiting > 0) {
            return;
        }
    }
    // An event even if that is now: whoever started this does not expect to be called back already.
    context_->queue.schedule_at({std::max(lane.clock_ps, lane.reducing_ps)},
                                Callback::to<&CollectiveRun::finish_member>(*this, member));
}

void CollectiveRun::finish_member(std::uint64_t member) {
    ++finished_;
    owner_->member_finished(*this, static_cast<std::uint32_t>(member));
}

void CollectiveRun::issue(std::uint32_t member, std::uint32_t send) {
    const SimTime at{lanes_[member].clock_ps};
    if (!context_->rendezvous) {
        transmit(member, send, at);
    } else {
        context_->queue.schedule_at(
            at, Callback::to<&CollectiveRun::sender_ready>(*this, pack(member, send)));
    }
}

void CollectiveRun::transmit(std::uint32_t member, std::uint32_t send, SimTime at) {
    const Program::Send& op = program_->send(send);
    const std::uint32_t receiver = program_->peer_of(member, op.peer);
    const Bytes bytes = program_->bytes_of(op.payload, member, sizes_);
    ++context_->messages;
    context_->bytes = saturating_add(context_->bytes, bytes.count);
    context_->network.send({RankId{ranks_[member]}, RankId{ranks_[receiver]}, bytes},
                           at,
                           Callback::to<&CollectiveRun::deliver>(*this, pack(receiver, send)));
}

void CollectiveRun::deliver(std::uint64_t argument) {
    const auto member = static_cast<std::uint32_t>(argument >> 32);
    const auto send = static_cast<std::uint32_t>(argument);
    Lane& lane = lanes_[member];
    if (lane.step == kNotStarted ||
        program_->steps(member)[lane.step].wave != program_->send(send).wave) {
        park(lane, send);
        return;
    }
    take(member, send, context_->queue.now().ps);
    if (--lane.waiting == 0) {
        advance(member);
    }
}

// Deals with a message of the lane's step that came at `come_ps`.
void CollectiveRun::take(std::uint32_t member, std::uint32_t send_index, std::uint64_t come_ps) {
    const Program::Send& send = program_->send(send_index);
    Lane& lane = lanes_[member];
    std::uint64_t done_ps = saturating_add(come_ps, context_->endpoint_delay.ps);
    if (send.reduce) {
        const Bytes bytes = program_->bytes_of(send.payload, sender_of(member, send), sizes_);
        // What an earlier step left to be reduced meanwhile comes first.
        done_ps = std::max(done_ps, lane.reducing_ps);
        if (send.urgent == send.payload.count) {
            done_ps = saturating_add(done_ps, reduction(bytes).ps);
        } else {
            const Bytes urgent{bytes.count * send.urgent / send.payload.count};
            done_ps = saturating_add(done_ps, reduction(urgent).ps);
            lane.reducing_ps = saturating_add(done_ps, reduction({bytes.count - urgent.count}).ps);
        }
    }
    lane.clock_ps = std::max(lane.clock_ps, done_ps);
}

// The member whose payload a message is.
std::uint32_t CollectiveRun::sender_of(std::uint32_t receiver, const Program::Send& send) const {
    // Blocks of an absolute program are absolute: there any member will do.
    return program_->peer_of(receiver, program_->mirrored(receiver, send.peer));
}

void CollectiveRun::park(Lane& lane, std::uint32_t send) {
    std::uint32_t slot = free_parked_;
    if (slot == kNone) {
        slot = static_cast<std::uint32_t>(parked_.size());
        parked_.emplace_back();
    } else {
        free_parked_ = parked_[slot].next;
    }
    parked_[slot] = {context_->queue.now().ps, send, kNone};
    if (lane.parked == kNone) {
        lane.parked = slot;
    } else {
        parked_[lane.parked_last].next = slot;
    }
    lane.parked_last = slot;
}

// Takes the arrivals that the lane's new step has been waiting for.
void CollectiveRun::take_parked(std::uint32_t member) {
    Lane& lane = lanes_[member];
    const std::uint32_t wave = program_->steps(member)[lane.step].wave;
    std::uint32_t previous = kNone;
    for (std::uint32_t slot = lane.parked; slot != kNone && lane.waiting > 0;) {
        const Parked parked = parked_[slot];
        if (program_->send(parked.send).wave != wave) {
            previous = slot;
            slot = parked.next;
            continue;
        }
        take(member, parked.send, parked.come_ps);
        --lane.waiting;
        (previous == kNone ? lane.parked : parked_[previous].next) = parked.next;
        if (parked.next == kNone) {
            lane.parked_last = previous;
        }
        parked_[slot].next = free_parked_;
        free_parked_ = slot;
        slot = parked.next;
    }
}

// Under rendezvous a receiver asks for each message of a step as it comes to the step.
void CollectiveRun::ask_for(std::uint32_t member, const Program::Step& step) {
    if (!context_->rendezvous) {
        return;
    }
    const SimTime at{lanes_[member].clock_ps};
    for (std::uint32_t i = 0; i < step.receives; ++i) {
        const Program::Receive& receive = program_->receive(step.first_receive + i);
        const std::uint32_t sender = program_->peer_of(member, receive.peer);
        ++context_->messages;
        context_->bytes = saturating_add(context_->bytes, kRequestBytes.count);
        context_->network.send(
            {RankId{ranks_[member]}, RankId{ranks_[sender]}, kRequestBytes},
            at,
            Callback::to<&CollectiveRun::asked>(*this, pack(sender, receive.send)));
    }
}

void CollectiveRun::asked(std::uint64_t argument) {
    Gate& gate = gates_[argument];
    gate.asked = true;
    if (gate.ready) {
        gates_.erase(argument);
        transmit(static_cast<std::uint32_t>(argument >> 32),
                 static_cast<std::uint32_t>(argument),
                 context_->queue.now());
    }
}

void CollectiveRun::sender_ready(std::uint64_t argument) {
    Gate& gate = gates_[argument];
    gate.ready = true;
    if (gate.asked) {
        gates_.erase(argument);
        transmit(static_cast<std::uint32_t>(argument >> 32),
                 static_cast<std::uint32_t>(argument),
                 context_->queue.now());
    }
}

}  // namespace astra
