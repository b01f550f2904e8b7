#include "system/run/collective_run.h"

#include <algorithm>
#include <utility>

#include "astra/core/check.h"

namespace astra {

namespace {

// Channels of a communicator that have a key of their own.
constexpr std::uint32_t kChannelNumbers = 1024;

}  // namespace

void CollectiveRun::begin(RunContext& context,
                          RunOwner& owner,
                          std::uint64_t id,
                          const Program& program,
                          std::vector<std::uint32_t> ranks,
                          Bytes size,
                          const MessageCosts& costs,
                          std::uint32_t communicator) {
    ASTRA_CHECK(ranks.size() == program.members(), "a program runs over its number of members");
    context_ = &context;
    owner_ = &owner;
    follow_ = &kUnwanted;
    program_ = &program;
    const ThreadBlocks* thread_blocks = program.thread_blocks();
    const bool as_recorded = thread_blocks != nullptr && thread_blocks->as_recorded();
    costs_.begin(costs,
                 as_recorded ? Duration{} : context.endpoint_delay,
                 context.memory,
                 thread_blocks != nullptr);
    copied_ps_.assign(costs_.copies() ? ranks.size() : 0, 0);
    id_ = id;
    sizes_ = program.cut(size);
    pairs_ = {};
    empty_causes_.clear();
    causes_.assign(context.recorder == nullptr ? 0 : ranks.size(), kNoCause);
    started_ = 0;
    finished_ = 0;
    leaving_ = 0;
    ranks_ = std::move(ranks);
    sequences_.assign(program.sequences(), {});
    if (thread_blocks == nullptr) {
        thread_blocks_.reset();
    } else {
        if (thread_blocks_ == nullptr) {
            thread_blocks_ = std::make_unique<ThreadBlockRun>(*this);
        }
        thread_blocks_->begin(program);
    }
    parked_.clear();
    free_parked_ = kNone;
    // Under rendezvous a message leaves when its receiver asks for it.
    if (context.in_order && !context.rendezvous) {
        send_queues_.begin(program, context.run_ahead);
    } else {
        send_queues_.clear();
    }
    departures_.assign(ranks_.size(), {});
    communicator_ = communicator;
    gates_.clear();
}

void CollectiveRun::start(std::uint32_t member) {
    ++started_;
    if (context_->recorder != nullptr) {
        causes_[member] = context_->recorder->current();
    }
    const SimTime begin = costs_.first_step(context_->queue.now());
    if (thread_blocks_ != nullptr) {
        thread_blocks_->start(member, begin);
        return;
    }
    begin_sequence(member, begin);
    if (enter_step(member, member)) {
        advance(member, member);
    }
}

void CollectiveRun::begin_sequence(std::size_t at, SimTime begin) {
    Sequence& sequence = sequences_[at];
    ASTRA_CHECK(sequence.step == kNotStarted, "a member starts once");
    sequence.step = 0;
    sequence.clock.now_ps = begin.ps;
}

// Begins with the step that the sequence has come to; true if there is nothing to wait for.
bool CollectiveRun::enter_step(std::uint32_t member, std::size_t at) {
    Sequence& sequence = sequences_[at];
    const Program::Step& step = program_->steps_at(at)[sequence.step];
    sequence.waiting = awaited(member, step);
    if (sequence.waiting > 0) {
        ask_for(member, sequence, step);
        take_parked(member, sequence, step.tag);
    }
    return sequence.waiting == 0;
}

// Starts the sends of the step that the member has completed, and of all that follow without
// waiting.
void CollectiveRun::advance(std::uint32_t member, std::size_t at) {
    do {
        if (complete_step(member, at)) {
            finish_soon(member, sequences_[at].clock.end_ps());
            return;
        }
    } while (enter_step(member, at));
}

// True if it was the sequence's last.
bool CollectiveRun::complete_step(std::uint32_t member, std::size_t at) {
    Sequence& sequence = sequences_[at];
    const auto all = program_->steps_at(at);
    const Program::Step& done = all[sequence.step];
    for (std::uint32_t i = 0; i < done.sends; ++i) {
        issue(member, sequence, done.first_send + i);
    }
    return ++sequence.step == all.size();
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
    Departure& departure = departures_[member];
    departure.finished = true;
    const std::uint64_t now = context_->queue.now().ps;
    const bool left = departure.unknown == 0 && departure.left_ps <= now;
    if (!left) {
        ++leaving_;
        if (departure.unknown == 0) {
            context_->queue.schedule_at({departure.left_ps},
                                        Callback::to<&CollectiveRun::leave>(*this, argument));
        }
    }
    owner_->member_finished(*this, member, left);
}

bool CollectiveRun::is_told(std::uint32_t member, const Program::Send& send) const {
    return pairs_.sizes == nullptr ? send.is_last : bytes_of(send.payload, member).count > 0;
}

void CollectiveRun::note_departure(std::uint32_t member, std::uint64_t at_ps) {
    Departure& departure = departures_[member];
    departure.left_ps = std::max(departure.left_ps, at_ps);
    if (--departure.unknown == 0 && departure.finished) {
        const std::uint64_t cause = context_->recorder == nullptr ? 0 : index(cause_at(member));
        context_->queue.schedule_at(
            {std::max(departure.left_ps, context_->queue.now().ps)},
            Callback::to<&CollectiveRun::leave>(*this, (cause << 32U) | member));
    }
}

void CollectiveRun::leave(std::uint64_t argument) {
    const auto member = static_cast<std::uint32_t>(argument);
    const Recorder::Because because(context_->recorder,
                                    Cause{static_cast<std::uint32_t>(argument >> 32U)});
    --leaving_;
    owner_->member_left(*this, member);
}

void CollectiveRun::issue(std::uint32_t member, const Sequence& sequence, std::uint32_t send) {
    const SimTime at{sequence.clock.now_ps};
    const Program::Send& op = program_->send(send);
    departures_[member].unknown += is_told(member, op) ? 1 : 0;
    if (context_->rendezvous) {
        context_->queue.schedule_at(
            at, Callback::to<&CollectiveRun::sender_ready>(*this, pack(member, send)));
    } else if (send_queues_.used()) {
        send_queues_.push(member, send, at.ps);
        send_from_queue(member, op.queue);
    } else {
        depart(member, send, at);
    }
}

void CollectiveRun::send_from_queue(std::uint32_t member, std::uint32_t queue) {
    SendQueues::Woken next{member, queue, member};
    do {
        SendQueues::Waiting message;
        while (send_queues_.pop(next.member, next.queue, message)) {
            const Program::Send& op = program_->send(message.send);
            if (*follow_ && send_queues_.was_limited(next.member, op)) {
                owner_->member_held(*this, next.member, program_->peer_of(next.member, op.peer));
            }
            if (*follow_ && next.by != next.member) {
                owner_->member_follows(*this, next.member, next.by);
            }
            const SimTime left = depart(
                next.member, message.send, {std::max(message.at_ps, context_->queue.now().ps)});
            if (left.ps != kMaxPs) {
                send_queues_.leaves(next.member, op, left.ps);
            }
        }
    } while (send_queues_.pop_woken(next));
}

// Sends the message. When it will have left, if that is known by now.
SimTime CollectiveRun::depart(std::uint32_t member, std::uint32_t send, SimTime at) {
    const SimTime left = transmit(member, send, at);
    if (left.ps != kMaxPs && is_told(member, program_->send(send))) {
        note_departure(member, left.ps);
    }
    return left;
}

// A message has left of which that was not known.
void CollectiveRun::left(std::uint64_t message) {
    const auto member = static_cast<std::uint32_t>(message >> 32);
    const Program::Send& op = program_->send(static_cast<std::uint32_t>(message));
    if (is_told(member, op)) {
        note_departure(member, context_->queue.now().ps);
    }
    if (send_queues_.one_at_a_time()) {
        send_queues_.leaves(member, op, context_->queue.now().ps);
        send_from_queue(member, op.queue);
    }
}

ChannelKey CollectiveRun::channel_of(const Program::Send& send) const {
    // The last one stands for all concurrent messages, of which a pair of members has one
    // connection.
    const std::uint32_t channel = send.channel == Program::kConcurrent
                                      ? kChannelNumbers - 1
                                      : send.channel % (kChannelNumbers - 1);
    return ChannelKey{1 + (communicator_ * kChannelNumbers + channel) % (index(kOneMessage) - 1)};
}

SimTime CollectiveRun::transmit(std::uint32_t member, std::uint32_t send, SimTime at) {
    const Program::Send& op = program_->send(send);
    const std::uint32_t receiver = program_->peer_of(member, op.peer);
    const Bytes data = bytes_of(op.payload, member);
    if (pairs_.sizes != nullptr && data.count == 0) {
        if (!goes_without(receiver, member, op.payload)) {
            transmit_nothing(member, receiver, send, at);
        }
        return at;
    }
    const Bytes bytes = costs_.on_wire(data);
    ++context_->messages;
    context_->bytes = saturating_add(context_->bytes, bytes.count);
    const Recorder::Because because(context_->recorder,
                                    context_->recorder == nullptr ? kNoCause : cause_at(member));
    const bool asks = is_told(member, op) || send_queues_.one_at_a_time();
    return context_->network.send(
        {RankId{ranks_[member]}, RankId{ranks_[receiver]}, bytes, channel_of(op)},
        costs_.leaves(at, data, costs_.copies() ? &copied_ps_[member] : nullptr),
        Callback::to<&CollectiveRun::deliver>(*this, pack(receiver, send)),
        asks ? Callback::to<&CollectiveRun::left>(*this, pack(member, send)) : Callback{});
}

void CollectiveRun::transmit_nothing(std::uint32_t member,
                                     std::uint32_t receiver,
                                     std::uint32_t send,
                                     SimTime at) {
    if (context_->recorder != nullptr) {
        empty_causes_[pack(receiver, send)] = cause_at(member);
    }
    context_->queue.schedule_at(
        at, Callback::to<&CollectiveRun::deliver_nothing>(*this, pack(receiver, send)));
}

void CollectiveRun::deliver_nothing(std::uint64_t argument) {
    const Recorder::Because because(
        context_->recorder, context_->recorder == nullptr ? kNoCause : empty_causes_.at(argument));
    deliver(argument);
}

void CollectiveRun::deliver(std::uint64_t argument) {
    const auto member = static_cast<std::uint32_t>(argument >> 32);
    const auto send = static_cast<std::uint32_t>(argument);
    const Program::Send& op = program_->send(send);
    const std::size_t at = program_->sequence_at(member, op.sequence);
    Sequence& sequence = sequences_[at];
    if (pairs_.sizes != nullptr &&
        goes_without(member, program_->sender_of(member, send), op.payload)) {
        return;
    }
    if (sequence.step == kNotStarted || program_->steps_at(at)[sequence.step].tag != op.tag ||
        sequence.waiting == kHeldUp) {
        park(sequence, send);
        return;
    }
    take(member, sequence, send, context_->queue.now().ps);
    if (--sequence.waiting != 0) {
        return;
    }
    if (thread_blocks_ != nullptr) {
        thread_blocks_->advance(member, at);
    } else {
        advance(member, at);
    }
}

// Deals with a message of the sequence's step that came at `come_ps`.
void CollectiveRun::take(std::uint32_t member,
                         Sequence& sequence,
                         std::uint32_t send_index,
                         std::uint64_t come_ps) {
    const Program::Send& send = program_->send(send_index);
    if (*follow_) {
        owner_->member_hears(*this, member, program_->sending_member(member, send_index));
    }
    if (send_queues_.used()) {
        const std::uint32_t sender = program_->sending_member(member, send_index);
        if (send_queues_.taken(sender, send)) {
            send_from_queue(sender, send.queue);
        }
    }
    if (pairs_.sizes != nullptr &&
        pair_bytes(send.payload, program_->sender_of(member, send_index)).count == 0) {
        sequence.clock.now_ps = std::max(sequence.clock.now_ps, come_ps);
        return;
    }
    if (!send.reduce) {
        costs_.take(sequence.clock, come_ps);
        return;
    }
    const Bytes bytes =
        program_->bytes_of(send.payload, program_->sender_of(member, send_index), sizes_);
    costs_.reduce(sequence.clock, come_ps, bytes, {send.urgent, send.payload.count});
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

void CollectiveRun::park(Sequence& sequence, std::uint32_t send) {
    std::uint32_t index = free_parked_;
    if (index == kNone) {
        index = static_cast<std::uint32_t>(parked_.size());
        parked_.emplace_back();
    } else {
        free_parked_ = parked_[index].next;
    }
    parked_[index] = {context_->queue.now().ps, send, kNone};
    if (sequence.parked == kNone) {
        sequence.parked = index;
    } else {
        parked_[sequence.parked_last].next = index;
    }
    sequence.parked_last = index;
}

// Takes the arrivals that the sequence's new step has been waiting for.
void CollectiveRun::take_parked(std::uint32_t member, Sequence& sequence, std::uint32_t tag) {
    std::uint32_t previous = kNone;
    for (std::uint32_t index = sequence.parked; index != kNone && sequence.waiting > 0;) {
        const Parked parked = parked_[index];
        if (program_->send(parked.send).tag != tag) {
            previous = index;
            index = parked.next;
            continue;
        }
        const Program::Send& op = program_->send(parked.send);
        // It may have come before the member could say that it does not wait for it.
        if (pairs_.sizes == nullptr ||
            !goes_without(member, program_->sender_of(member, parked.send), op.payload)) {
            take(member, sequence, parked.send, parked.come_ps);
            --sequence.waiting;
        }
        (previous == kNone ? sequence.parked : parked_[previous].next) = parked.next;
        if (parked.next == kNone) {
            sequence.parked_last = previous;
        }
        parked_[index].next = free_parked_;
        free_parked_ = index;
        index = parked.next;
    }
}

// Under rendezvous a receiver asks for each message of a step as it comes to the step.
void CollectiveRun::ask_for(std::uint32_t member,
                            const Sequence& sequence,
                            const Program::Step& step) {
    if (!context_->rendezvous) {
        return;
    }
    const SimTime at{sequence.clock.now_ps};
    for (std::uint32_t i = 0; i < step.receives; ++i) {
        const Program::Receive& receive = program_->receive(step.first_receive + i);
        const std::uint32_t sender = program_->peer_of(member, receive.peer);
        if (pairs_.sizes != nullptr && goes_without(member, member, receive.payload)) {
            continue;
        }
        if (*follow_) {
            owner_->member_held(*this, sender, member);
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
    depart(static_cast<std::uint32_t>(message >> 32),
           static_cast<std::uint32_t>(message),
           context_->queue.now());
}

}  // namespace astra
