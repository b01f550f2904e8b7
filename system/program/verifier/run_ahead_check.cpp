#include "system/program/verifier/run_ahead_check.h"

#include <algorithm>

#include <fmt/format.h>

namespace astra {

RunAheadCheck::RunAheadCheck(const Program& program, std::uint32_t bound)
    : program_(program),
      bound_(bound),
      queues_(std::size_t{program.members()} * program.order().queues),
      ahead_(std::size_t{program.members()} * program.order().connections),
      turn_(std::size_t{program.members()} * program.order().turns) {
    for (std::uint32_t member = 0; member < program.members(); ++member) {
        for (std::uint32_t sequence = 0; sequence < program.sequences_of(member); ++sequence) {
            Progress& at = progress_.emplace_back();
            at.member = member;
            at.sequence = sequence;
        }
    }
}

std::string RunAheadCheck::fault() {
    for (std::size_t at = progress_.size(); at-- > 0;) {
        ready_.push_back(at);
    }
    while (!ready_.empty() || !freed_.empty()) {
        if (!freed_.empty()) {
            const auto [member, number] = freed_.back();
            freed_.pop_back();
            go_on(member, number);
            continue;
        }
        const std::size_t at = ready_.back();
        ready_.pop_back();
        advance(at);
    }
    for (const Progress& at : progress_) {
        if (at.step < program_.steps(at.member, at.sequence).size()) {
            return fmt::format(
                "deadlock: {}: waits for ever where {}a sender may be {} messages ahead of {}",
                program_.step_name(at.member, at.sequence, at.step),
                program_.order().takes_turns ? "messages take turns at their receiver and " : "",
                bound_,
                program_.order().takes_turns ? "it" : "its receiver");
        }
    }
    return "";
}

// Runs a sequence until it finishes or waits.
void RunAheadCheck::advance(std::size_t number) {
    Progress& at = progress_[number];
    const auto steps = program_.steps(at.member, at.sequence);
    while (at.step < steps.size()) {
        const Program::Step& step = steps[at.step];
        if (!at.begun) {
            if (is_held_up(at, step)) {
                return;
            }
            begin_step(at, step);
        }
        if (at.missing > 0) {
            return;
        }
        for (std::uint32_t i = 0; i < step.sends; ++i) {
            send(at.member, step.first_send + i);
        }
        ++at.step;
        at.begun = false;
        if (program_.thread_blocks() != nullptr) {
            for (std::uint32_t other = 0; other < program_.sequences_of(at.member); ++other) {
                if (other != at.sequence) {
                    ready_.push_back(program_.sequence_at(at.member, other));
                }
            }
        }
    }
}

bool RunAheadCheck::is_held_up(const Progress& at, const Program::Step& step) const {
    if (program_.thread_blocks() == nullptr) {
        return false;
    }
    const auto waits = program_.thread_blocks()->waits(program_.number_of(step));
    return std::any_of(waits.begin(), waits.end(), [&](const ThreadBlocks::Wait& wait) {
        return progress_[program_.sequence_at(at.member, wait.thread_block)].step <= wait.step;
    });
}

void RunAheadCheck::begin_step(Progress& at, const Program::Step& step) {
    at.begun = true;
    at.missing = step.receives;
    std::size_t kept = 0;
    for (const std::uint32_t op : at.parked) {
        if (at.missing > 0 && program_.send(op).tag == step.tag) {
            --at.missing;
            take(at.member, op);
        } else {
            at.parked[kept++] = op;
        }
    }
    at.parked.resize(kept);
}

void RunAheadCheck::send(std::uint32_t member, std::uint32_t op) {
    const std::uint32_t number = program_.send(op).queue;
    queue(member, number).push_back(op);
    freed_.emplace_back(member, number);
}

// Lets all leave that may.
void RunAheadCheck::go_on(std::uint32_t member, std::uint32_t number) {
    std::deque<std::uint32_t>& waiting = queue(member, number);
    while (!waiting.empty()) {
        const std::uint32_t op = waiting.front();
        const Program::Send& send = program_.send(op);
        std::uint32_t& under_way = ahead(member, send.connection);
        if (under_way == bound_ || !is_its_turn(member, send)) {
            return;
        }
        ++under_way;
        waiting.pop_front();
        end_turn(member, send);
        deliver(program_.peer_of(member, program_.send(op).peer), op);
    }
}

bool RunAheadCheck::is_its_turn(std::uint32_t member, const Program::Send& send) {
    return send.turns == Program::kNoTurns ||
           turn(program_.peer_of(member, send.peer), send.turns) >= send.turn;
}

void RunAheadCheck::end_turn(std::uint32_t member, const Program::Send& send) {
    if (send.turns == Program::kNoTurns) {
        return;
    }
    const std::uint32_t receiver = program_.peer_of(member, send.peer);
    const std::uint32_t left = ++turn(receiver, send.turns);
    for (const std::uint32_t next : program_.in_turn(receiver, send.turns, left)) {
        const Program::Receive& receive = program_.receive(next);
        freed_.emplace_back(program_.peer_of(receiver, receive.peer),
                            program_.send(receive.send).queue);
    }
}

void RunAheadCheck::deliver(std::uint32_t member, std::uint32_t op) {
    const Program::Send& send = program_.send(op);
    const std::size_t number = program_.sequence_at(member, send.sequence);
    Progress& at = progress_[number];
    if (!at.begun || at.missing == 0 ||
        program_.steps(at.member, at.sequence)[at.step].tag != send.tag) {
        at.parked.push_back(op);
        return;
    }
    take(member, op);
    if (--at.missing == 0) {
        ready_.push_back(number);
    }
}

void RunAheadCheck::take(std::uint32_t member, std::uint32_t op) {
    const std::uint32_t sender = program_.sending_member(member, op);
    --ahead(sender, program_.send(op).connection);
    freed_.emplace_back(sender, program_.send(op).queue);
}

}  // namespace astra
