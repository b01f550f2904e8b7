#include "system/run/send_queues.h"

#include <algorithm>

namespace astra {

void SendQueues::begin(const Program& program, std::uint32_t run_ahead) {
    const Program::Order& order = program.order();
    program_ = &program;
    run_ahead_ = order.most_messages > run_ahead ? run_ahead : 0;
    used_ = order.fans_out || order.takes_turns || run_ahead_ > 0;
    if (!used_) {
        return;
    }
    queues_.assign(std::size_t{program.members()} * order.queues, {});
    connections_.assign(run_ahead_ == 0 ? 0 : std::size_t{program.members()} * order.connections,
                        {});
    turns_.assign(order.takes_turns ? std::size_t{program.members()} * order.turns : 0, {});
    woken_.clear();
    waiting_.clear();
    free_ = kNone;
}

void SendQueues::push(std::uint32_t member, std::uint32_t send, std::uint64_t at_ps) {
    std::uint32_t number = free_;
    if (number == kNone) {
        number = static_cast<std::uint32_t>(waiting_.size());
        waiting_.emplace_back();
    } else {
        free_ = waiting_[number].next;
    }
    waiting_[number] = {at_ps, send, kNone};
    Queue& to = queue(member, program_->send(send).queue);
    (to.first == kNone ? to.first : waiting_[to.last].next) = number;
    to.last = number;
}

bool SendQueues::pop(std::uint32_t member, std::uint32_t number, Waiting& message) {
    Queue& from = queue(member, number);
    if (from.busy || from.first == kNone) {
        return false;
    }
    const std::uint32_t first = from.first;
    const Program::Send& send = program_->send(waiting_[first].send);
    if (takes_turn(send) && turns(member, send).left < send.turn) {
        return false;
    }
    if (run_ahead_ > 0) {
        Connection& to = connection(member, send);
        if (to.sent - to.taken == run_ahead_) {
            return false;
        }
        ++to.sent;
    }
    message = waiting_[first];
    message.at_ps = std::max(message.at_ps, from.free_ps);
    if (takes_turn(send)) {
        message.at_ps = std::max(message.at_ps, turns(member, send).free_ps);
    }
    from.first = message.next;
    waiting_[first].next = free_;
    free_ = first;
    from.busy = one_at_a_time();
    return true;
}

void SendQueues::leaves(std::uint32_t member, const Program::Send& send, std::uint64_t at_ps) {
    Queue& left = queue(member, send.queue);
    left.busy = false;
    left.free_ps = std::max(left.free_ps, at_ps);
    if (!takes_turn(send)) {
        return;
    }
    Turns& had = turns(member, send);
    ++had.left;
    had.free_ps = std::max(had.free_ps, at_ps);
    const std::uint32_t receiver = program_->peer_of(member, send.peer);
    for (const std::uint32_t next : program_->in_turn(receiver, send.turns, had.left)) {
        const Program::Receive& receive = program_->receive(next);
        woken_.push_back({program_->peer_of(receiver, receive.peer),
                          program_->send(receive.send).queue,
                          member});
    }
}

bool SendQueues::pop_woken(Woken& woken) {
    if (woken_.empty()) {
        return false;
    }
    woken = woken_.back();
    woken_.pop_back();
    return true;
}

bool SendQueues::taken(std::uint32_t member, const Program::Send& send) {
    if (run_ahead_ == 0) {
        return false;
    }
    Connection& from = connection(member, send);
    return from.sent - from.taken++ == run_ahead_;
}

}  // namespace astra
