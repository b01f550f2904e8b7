#include "system/run/collective_run.h"

#include <algorithm>
#include <utility>

#include "astra/core/check.h"

namespace astra {

void CollectiveRun::begin(RunContext& context,
                          RunOwner& owner,
                          std::uint64_t id,
                          const Program& program,
                          std::vector<std::uint32_t> ranks,
                          Bytes size,
                          const MessageCosts& costs) {
    ASTRA_CHECK(ranks.size() == program.members(), "a program runs over its number of members");
    context_ = &context;
    owner_ = &owner;
    program_ = &program;
    has_lanes_ = program.has_lanes();
    costs_.begin(costs,
                 program.as_recorded() ? Duration{} : context.endpoint_delay,
                 context.memory,
                 has_lanes_);
    copied_ps_.assign(costs_.copies() ? ranks.size() : 0, 0);
    id_ = id;
    sizes_ = program.cut(size);
    pairs_ = {};
    causes_.assign(context.recorder == nullptr ? 0 : ranks.size(), kNoCause);
    started_ = 0;
    finished_ = 0;
    ranks_ = std::move(ranks);
    lanes_.assign(program.all_lanes(), {});
    members_.clear();
    done_ps_.clear();
    if (program.has_lanes()) {
        members_.resize(ranks_.size());
        done_ps_.resize(program.all_steps());
    }
    parked_.clear();
    free_parked_ = kNone;
    gates_.clear();
}

void CollectiveRun::start(std::uint32_t member) {
    const std::size_t first = has_lanes_ ? program_->lane_at(member, 0) : member;
    const std::size_t end = first + (has_lanes_ ? program_->lanes(member) : 1);
    ASTRA_CHECK(first == end || lanes_[first].step == kNotStarted, "a member starts once");
    ++started_;
    if (context_->recorder != nullptr) {
        causes_[member] = context_->recorder->current();
    }
    const SimTime begin = costs_.first_step(context_->queue.now());
    if (has_lanes_) {
        members_[member].lanes_left = program_->lanes(member);
        members_[member].end_ps = begin.ps;
    }
    for (std::size_t at = first; at < end; ++at) {
        lanes_[at].step = 0;
        lanes_[at].clock.now_ps = begin.ps;
    }
    if (first == end) {
        finish_soon(member, members_[member].end_ps);
    }
    for (std::size_t at = first; at < end; ++at) {
        if (program_->steps_at(at).empty()) {
            finish_lane(member, at);
        } else if (enter_step(member, at)) {
            advance(member, at);
        }
    }
}

// Begins with the step that the lane has come to; true if there is nothing to wait for.
bool CollectiveRun::enter_step(std::uint32_t member, std::size_t at) {
    Lane& lane = lanes_[at];
    const Program::Step& step = program_->steps_at(at)[lane.step];
    if (has_lanes_ && !released(member, lane, step)) {
        lane.waiting = kHeldUp;
        return false;
    }
    lane.waiting = awaited(member, step);
    if (lane.waiting > 0) {
        ask_for(member, lane, step);
        take_parked(member, lane, step.wave);
    }
    return lane.waiting == 0;
}

// Whether the steps that the lane's step waits for are done; the lane's clock is then not before.
bool CollectiveRun::released(std::uint32_t member, Lane& lane, const Program::Step& step) const {
    for (const Program::Wait& wait : program_->waits(program_->extra(step))) {
        const Lane& other = lanes_[program_->lane_at(member, wait.lane)];
        // A step that is done has been left.
        if (other.step == kNotStarted || other.step <= wait.step) {
            return false;
        }
        const Program::Step& before = program_->steps(member, wait.lane)[wait.step];
        lane.clock.now_ps = std::max(lane.clock.now_ps, done_ps_[program_->step_at(before)]);
    }
    return true;
}

// Starts the sends of the step that the lane has completed, and of all that follow without waiting.
void CollectiveRun::advance(std::uint32_t member, std::size_t at) {
    if (has_lanes_) {
        ready_.push_back(at);
        advance_lanes(member);
        return;
    }
    do {
        if (complete_step(member, at)) {
            finish_soon(member, lanes_[at].clock.end_ps());
            return;
        }
    } while (enter_step(member, at));
}

// As advance, of all lanes that are ready, and of those that get ready by it.
void CollectiveRun::advance_lanes(std::uint32_t member) {
    const std::size_t first = program_->lane_at(member, 0);
    const std::size_t end = first + program_->lanes(member);
    while (!ready_.empty()) {
        const std::size_t at = ready_.back();
        ready_.pop_back();
        bool waited_for = false;
        bool finished = false;
        do {
            const Program::Step& step = program_->steps_at(at)[lanes_[at].step];
            waited_for = waited_for || program_->extra(step).waited_for;
            finished = complete_step(member, at);
        } while (!finished && enter_step(member, at));
        if (finished) {
            finish_lane(member, at);
        }
        for (std::size_t other = first; waited_for && other < end; ++other) {
            if (lanes_[other].waiting == kHeldUp && enter_step(member, other)) {
                ready_.push_back(other);
            }
        }
    }
}

// True if it was the lane's last.
bool CollectiveRun::complete_step(std::uint32_t member, std::size_t at) {
    Lane& lane = lanes_[at];
    const auto all = program_->steps_at(at);
    const Program::Step& done = all[lane.step];
    if (has_lanes_) {
        const Program::Extra& extra = program_->extra(done);
        for (const Program::Local& local : program_->locals(extra)) {
            costs_.work(
                lane.clock, program_->bytes_of(local, sizes_), local.reduce, {local.time_ps});
        }
        if (extra.waited_for) {
            done_ps_[program_->step_at(done)] = lane.clock.end_ps();
        }
    }
    for (std::uint32_t i = 0; i < done.sends; ++i) {
        issue(member, lane, done.first_send + i);
    }
    return ++lane.step == all.size();
}

void CollectiveRun::finish_lane(std::uint32_t member, std::size_t at) {
    Member& all = members_[member];
    all.end_ps = std::max(all.end_ps, lanes_[at].clock.end_ps());
    if (--all.lanes_left == 0) {
        finish_soon(member, all.end_ps);
    }
}

void CollectiveRun::finish_soon(std::uint32_t member, std::uint64_t at_ps) {
    // An event even if that is now: whoever started this does not expect to be called back already.
    const std::uint64_t cause = context_->recorder == nullptr ? 0 : index(cause_at(member));
    context_->queue.schedule_at(
        {at_ps}, Callback::to<&CollectiveRun::finish_member>(*this, (cause << 32U) | member));
}

void CollectiveRun::finish_member(std::uint64_t argument) {
    const auto member = static_cast<std::uint32_t>(argument);
    const Recorder::Because because(context_->recorder,
                                    Cause{static_cast<std::uint32_t>(argument >> 32U)});
    ++finished_;
    owner_->member_finished(*this, member);
}

void CollectiveRun::issue(std::uint32_t member, const Lane& lane, std::uint32_t send) {
    const SimTime at{lane.clock.now_ps};
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
    const Bytes data = bytes_of(op.payload, member);
    if (pairs_.sizes != nullptr && data.count == 0) {
        if (!goes_without(receiver, member, op.payload)) {
            context_->queue.schedule_at(
                at, Callback::to<&CollectiveRun::deliver>(*this, pack(receiver, send)));
        }
        return;
    }
    const Bytes bytes = costs_.on_wire(data);
    ++context_->messages;
    context_->bytes = saturating_add(context_->bytes, bytes.count);
    const Recorder::Because because(context_->recorder,
                                    context_->recorder == nullptr ? kNoCause : cause_at(member));
    context_->network.send({RankId{ranks_[member]}, RankId{ranks_[receiver]}, bytes},
                           costs_.leaves(at, data, costs_.copies() ? &copied_ps_[member] : nullptr),
                           Callback::to<&CollectiveRun::deliver>(*this, pack(receiver, send)));
}

void CollectiveRun::deliver(std::uint64_t argument) {
    const auto member = static_cast<std::uint32_t>(argument >> 32);
    const auto send = static_cast<std::uint32_t>(argument);
    const Program::Send& op = program_->send(send);
    const std::size_t at = has_lanes_ ? program_->lane_at(member, op.lane) : member;
    Lane& lane = lanes_[at];
    if (pairs_.sizes != nullptr &&
        goes_without(member, program_->sender_of(member, send), op.payload)) {
        return;
    }
    if (lane.step == kNotStarted || program_->steps_at(at)[lane.step].wave != op.wave ||
        lane.waiting == kHeldUp) {
        park(lane, send);
        return;
    }
    take(member, lane, send, context_->queue.now().ps);
    if (--lane.waiting == 0) {
        advance(member, at);
    }
}

// Deals with a message of the lane's step that came at `come_ps`.
void CollectiveRun::take(std::uint32_t member,
                         Lane& lane,
                         std::uint32_t send_index,
                         std::uint64_t come_ps) {
    const Program::Send& send = program_->send(send_index);
    if (pairs_.sizes != nullptr &&
        pair_bytes(send.payload, program_->sender_of(member, send_index)).count == 0) {
        lane.clock.now_ps = std::max(lane.clock.now_ps, come_ps);
        return;
    }
    if (!send.reduce) {
        costs_.take(lane.clock, come_ps);
        return;
    }
    const Bytes bytes =
        program_->bytes_of(send.payload, program_->sender_of(member, send_index), sizes_);
    costs_.reduce(lane.clock, come_ps, bytes, {send.urgent, send.payload.count});
}

// The messages that a member waits for in a step.
std::uint32_t CollectiveRun::awaited(std::uint32_t member, const Program::Step& step) const {
    if (pairs_.sizes == nullptr) {
        return step.receives;
    }
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < step.receives; ++i) {
        const Program::Receive& receive = program_->receive(step.first_receive + i);
        count += goes_without(member, member, receive.payload) ? 0 : 1;
    }
    return count;
}

// Whether the receiver of a message, described as `seen_by` sees it, knows that it has no bytes.
bool CollectiveRun::goes_without(std::uint32_t receiver,
                                 std::uint32_t seen_by,
                                 const Payload& payload) const {
    for (std::uint32_t i = 0; i < program_->elements(payload); ++i) {
        if (program_->block_of(seen_by, payload, i) != receiver ||
            !pairs_.sizes->expects_nothing(receiver, program_->origin_of(seen_by, payload, i))) {
            return false;
        }
    }
    return true;
}

Bytes CollectiveRun::pair_bytes(const Payload& payload, std::uint32_t member) const {
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < program_->elements(payload); ++i) {
        const Bytes pair = pairs_.sizes->bytes(program_->origin_of(member, payload, i),
                                               program_->block_of(member, payload, i));
        bytes = saturating_add(bytes, part_of(pair, pairs_.chunks, pairs_.chunk).count);
    }
    return {bytes};
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
void CollectiveRun::take_parked(std::uint32_t member, Lane& lane, std::uint32_t wave) {
    std::uint32_t previous = kNone;
    for (std::uint32_t slot = lane.parked; slot != kNone && lane.waiting > 0;) {
        const Parked parked = parked_[slot];
        if (program_->send(parked.send).wave != wave) {
            previous = slot;
            slot = parked.next;
            continue;
        }
        const Program::Send& op = program_->send(parked.send);
        // It may have come before the member could say that it does not wait for it.
        if (pairs_.sizes == nullptr ||
            !goes_without(member, program_->sender_of(member, parked.send), op.payload)) {
            take(member, lane, parked.send, parked.come_ps);
            --lane.waiting;
        }
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
void CollectiveRun::ask_for(std::uint32_t member, const Lane& lane, const Program::Step& step) {
    if (!context_->rendezvous) {
        return;
    }
    const SimTime at{lane.clock.now_ps};
    for (std::uint32_t i = 0; i < step.receives; ++i) {
        const Program::Receive& receive = program_->receive(step.first_receive + i);
        const std::uint32_t sender = program_->peer_of(member, receive.peer);
        if (pairs_.sizes != nullptr && goes_without(member, member, receive.payload)) {
            continue;
        }
        ++context_->messages;
        context_->bytes = saturating_add(context_->bytes, kRequestBytes.count);
        context_->network.send(
            {RankId{ranks_[member]}, RankId{ranks_[sender]}, kRequestBytes},
            at,
            Callback::to<&CollectiveRun::asked>(*this, pack(sender, receive.send)));
    }
}

void CollectiveRun::asked(std::uint64_t message) {
    if (gates_.asked(message)) {
        transmit_now(message);
    }
}

void CollectiveRun::sender_ready(std::uint64_t message) {
    if (gates_.ready(message)) {
        transmit_now(message);
    }
}

void CollectiveRun::transmit_now(std::uint64_t message) {
    transmit(static_cast<std::uint32_t>(message >> 32),
             static_cast<std::uint32_t>(message),
             context_->queue.now());
}

}  // namespace astra
