#include "system/program/verifier/execution.h"

#include <utility>

#include <fmt/format.h>

namespace astra {

SymbolicExecution::SymbolicExecution(const Program& program)
    : program_(program), thread_blocks_(program.thread_blocks()) {
    for (std::uint32_t member = 0; member < program.members(); ++member) {
        for (std::uint32_t sequence = 0; sequence < program.sequences_of(member); ++sequence) {
            Progress& at = progress_.emplace_back();
            at.member = member;
            at.sequence = sequence;
        }
    }
}

SymbolicExecution::SymbolicExecution(const Program& program, SymbolicState& state)
    : SymbolicExecution(program) {
    state_ = &state;
}

std::string SymbolicExecution::run() {
    for (std::size_t at = progress_.size(); at-- > 0;) {
        ready_.push_back(at);
    }
    while (!ready_.empty()) {
        const std::size_t at = ready_.back();
        ready_.pop_back();
        if (!advance(at)) {
            return fault_;
        }
    }
    return deadlock();
}

// Runs a sequence until it finishes or waits.
bool SymbolicExecution::advance(std::size_t number) {
    Progress& at = progress_[number];
    const auto steps = program_.steps(at.member, at.sequence);
    for (; at.step < steps.size(); ++at.step, at.receive = 0) {
        const Program::Step& step = steps[at.step];
        at.held_up = unfulfilled(at, step) != nullptr;
        if (at.held_up) {
            return true;
        }
        for (; at.receive < step.receives; ++at.receive) {
            const std::uint32_t op = step.first_receive + at.receive;
            const Program::Receive& receive = program_.receive(op);
            const std::uint64_t message =
                message_of(program_.peer_of(at.member, receive.peer), receive.send);
            const auto found = in_flight_.find(message);
            if (found == in_flight_.end()) {
                at.waits_for = message;
                return true;
            }
            if (!take(at, op, found->second)) {
                return false;
            }
            in_flight_.erase(found);
        }
        if (thread_blocks_ != nullptr && !work(at, step)) {
            return false;
        }
        for (std::uint32_t i = 0; i < step.sends; ++i) {
            if (!send(at, step.first_send + i)) {
                return false;
            }
        }
        if (thread_blocks_ != nullptr) {
            complete(number, step);
        }
    }
    return true;
}

// What the step waits for in other thread blocks; null if nothing.
const ThreadBlocks::Wait* SymbolicExecution::unfulfilled(const Progress& at,
                                                         const Program::Step& step) const {
    if (thread_blocks_ == nullptr) {
        return nullptr;
    }
    for (const ThreadBlocks::Wait& wait : thread_blocks_->waits(program_.number_of(step))) {
        if (progress_[program_.sequence_at(at.member, wait.thread_block)].step <= wait.step) {
            return &wait;
        }
    }
    return nullptr;
}

// The step of a thread block is done.
void SymbolicExecution::complete(std::size_t number, const Program::Step& step) {
    order_.push_back({static_cast<std::uint32_t>(number), progress_[number].step});
    if (thread_blocks_->is_waited_for(program_.number_of(step))) {
        release(progress_[number].member);
    }
}

// Those that are held up look for themselves whether it is their turn: the step in hand counts as
// done only afterwards, which is why they are not run at once.
void SymbolicExecution::release(std::uint32_t member) {
    for (std::uint32_t sequence = 0; sequence < program_.sequences_of(member); ++sequence) {
        const std::size_t number = program_.sequence_at(member, sequence);
        if (progress_[number].held_up) {
            progress_[number].held_up = false;
            ready_.push_back(number);
        }
    }
}

bool SymbolicExecution::send(const Progress& at, std::uint32_t op_index) {
    const Program::Send& op = program_.send(op_index);
    Words contents;
    if (state_ != nullptr) {
        const std::uint32_t sets = state_->positions_in(op.payload);
        contents.reserve(std::size_t{sets} * state_->words());
        for (std::uint32_t i = 0; i < sets; ++i) {
            const std::uint32_t position = state_->position_of(at.member, op.payload, i);
            if (state_->is_empty(at.member, position)) {
                return fail(at,
                            fmt::format("sends {}, which it does not hold",
                                        state_->position_name(position)));
            }
            const std::uint64_t* set = state_->set(at.member, position);
            contents.insert(contents.end(), set, set + state_->words());
        }
    }
    const std::uint64_t message = message_of(at.member, op_index);
    in_flight_.emplace(message, std::move(contents));
    const std::size_t receiver =
        program_.sequence_at(program_.peer_of(at.member, op.peer), op.sequence);
    if (progress_[receiver].waits_for == message) {
        progress_[receiver].waits_for = kNothing;
        ready_.push_back(receiver);
    }
    return true;
}

bool SymbolicExecution::take(const Progress& at, std::uint32_t op_index, const Words& contents) {
    const Program::Receive& op = program_.receive(op_index);
    const std::uint32_t sender = program_.peer_of(at.member, op.peer);
    if (!same_blocks(at, op.payload, sender, program_.send(op.send).payload)) {
        return false;
    }
    if (state_ == nullptr) {
        return true;
    }
    for (std::uint32_t i = 0; i < state_->positions_in(op.payload); ++i) {
        const std::uint32_t position = state_->position_of(at.member, op.payload, i);
        const std::uint64_t* received = contents.data() + std::size_t{i} * state_->words();
        if (!op.reduce && !state_->always_adds()) {
            state_->overwrite(at.member, position, received);
            continue;
        }
        const std::uint32_t addend = thread_blocks_ != nullptr && state_->is_memory()
                                         ? thread_blocks_->addend(op_index) + i
                                         : position;
        if (!reduce(at, position, addend, received)) {
            return false;
        }
    }
    return true;
}

bool SymbolicExecution::reduce(const Progress& at,
                               std::uint32_t position,
                               std::uint32_t addend,
                               const std::uint64_t* received) {
    if (state_->is_memory() && state_->is_empty(at.member, addend)) {
        return fail(
            at,
            fmt::format("adds to what {} holds, which is nothing", state_->position_name(addend)));
    }
    const std::string mixed = state_->mixed(at.member, addend, received);
    if (!mixed.empty()) {
        return fail(at, fmt::format("{}: {}", state_->position_name(addend), mixed));
    }
    const auto twice = state_->shared(at.member, addend, received);
    if (twice && !state_->always_adds()) {
        return fail(at,
                    fmt::format("the contribution of member {} to {} is reduced twice",
                                *twice,
                                state_->position_name(addend)));
    }
    if (addend != position) {
        const std::uint64_t* set = state_->set(at.member, addend);
        state_->overwrite(at.member, position, Words(set, set + state_->words()).data());
    }
    state_->add(at.member, position, received);
    return true;
}

bool SymbolicExecution::work(const Progress& at, const Program::Step& step) {
    for (const ThreadBlocks::Local& local : thread_blocks_->locals(program_.number_of(step))) {
        for (std::uint32_t i = 0; state_ != nullptr && i < local.count; ++i) {
            const std::uint32_t from = local.from + i;
            const std::uint32_t to = local.to + i;
            if (state_->is_empty(at.member, from)) {
                return fail(at,
                            fmt::format("{} {}, which holds nothing",
                                        local.reduce ? "adds" : "copies",
                                        state_->position_name(from)));
            }
            const std::uint64_t* set = state_->set(at.member, from);
            const Words contents(set, set + state_->words());
            if (!local.reduce) {
                state_->overwrite(at.member, to, contents.data());
            } else if (!reduce(at, to, to, contents.data())) {
                return false;
            }
        }
    }
    return true;
}

bool SymbolicExecution::same_blocks(const Progress& at,
                                    const Payload& received,
                                    std::uint32_t sender,
                                    const Payload& sent) {
    const std::uint32_t expected_blocks = program_.elements(received);
    const std::uint32_t actual_blocks = program_.elements(sent);
    if (expected_blocks != actual_blocks) {
        return fail(at,
                    fmt::format("receives {} blocks, but member {} sends {}",
                                expected_blocks,
                                sender,
                                actual_blocks));
    }
    if (state_ == nullptr || state_->is_memory()) {
        return true;
    }
    for (std::uint32_t i = 0; i < state_->positions_in(sent); ++i) {
        const std::uint32_t expected = state_->position_of(at.member, received, i);
        const std::uint32_t actual = state_->position_of(sender, sent, i);
        if (expected != actual) {
            return fail(at,
                        fmt::format("receives {}, but member {} sends {}",
                                    state_->position_name(expected),
                                    sender,
                                    state_->position_name(actual)));
        }
    }
    return true;
}

// Who waits for ever; "" if all have finished.
std::string SymbolicExecution::deadlock() const {
    for (const Progress& at : progress_) {
        const auto steps = program_.steps(at.member, at.sequence);
        if (at.step == steps.size()) {
            continue;
        }
        const std::string name = program_.step_name(at.member, at.sequence, at.step);
        if (const ThreadBlocks::Wait* wait = unfulfilled(at, steps[at.step])) {
            const std::size_t other = program_.sequence_at(at.member, wait->thread_block);
            return fmt::format(
                "deadlock: {}: waits for step {} of thread block {}, which waits in step {}",
                name,
                wait->step,
                thread_blocks_->name(other),
                progress_[other].step);
        }
        const Program::Receive& op = program_.receive(steps[at.step].first_receive + at.receive);
        const std::uint32_t peer = program_.peer_of(at.member, op.peer);
        if (thread_blocks_ == nullptr) {
            return fmt::format("deadlock: {}: waits for member {}, which waits in step {}",
                               name,
                               peer,
                               progress_[peer].step);
        }
        return fmt::format(
            "deadlock: {}: waits for a message of member {} that is never sent", name, peer);
    }
    return "";
}

bool SymbolicExecution::fail(const Progress& at, std::string_view fault) {
    fault_ = fmt::format("{}: {}", program_.step_name(at.member, at.sequence, at.step), fault);
    return false;
}

}  // namespace astra
