#include "system/run/thread_block_run.h"

#include <algorithm>

#include "system/run/collective_run.h"

namespace astra {

void ThreadBlockRun::begin(const Program& program) {
    program_ = &program;
    thread_blocks_ = program.thread_blocks();
    members_.assign(program.members(), {});
    done_ps_.assign(program.stored_steps(), 0);
}

void ThreadBlockRun::start(std::uint32_t member, SimTime begin) {
    const std::uint32_t count = program_->sequences_of(member);
    const std::size_t first = program_->sequence_at(member, 0);
    members_[member] = {begin.ps, count};
    for (std::size_t at = first; at < first + count; ++at) {
        run_.begin_sequence(at, begin);
    }
    if (count == 0) {
        run_.finish_soon(member, begin.ps);
    }
    for (std::size_t at = first; at < first + count; ++at) {
        if (program_->steps_at(at).empty()) {
            finish(member, at);
        } else if (enter_step(member, at)) {
            advance(member, at);
        }
    }
}

void ThreadBlockRun::advance(std::uint32_t member, std::size_t at) {
    const std::size_t first = program_->sequence_at(member, 0);
    const std::size_t end = first + program_->sequences_of(member);
    ready_.push_back(at);
    while (!ready_.empty()) {
        const std::size_t here = ready_.back();
        ready_.pop_back();
        bool waited_for = false;
        bool finished = false;
        do {
            const Program::Step& step = program_->steps_at(here)[run_.sequences_[here].step];
            waited_for = waited_for || thread_blocks_->is_waited_for(program_->number_of(step));
            finished = complete_step(member, here);
        } while (!finished && enter_step(member, here));
        if (finished) {
            finish(member, here);
        }
        for (std::size_t other = first; waited_for && other < end; ++other) {
            if (run_.sequences_[other].waiting == CollectiveRun::kHeldUp &&
                enter_step(member, other)) {
                ready_.push_back(other);
            }
        }
    }
}

// True if there is nothing to wait for.
bool ThreadBlockRun::enter_step(std::uint32_t member, std::size_t at) {
    CollectiveRun::Sequence& sequence = run_.sequences_[at];
    const Program::Step& step = program_->steps_at(at)[sequence.step];
    if (!released(member, at, program_->number_of(step))) {
        sequence.waiting = CollectiveRun::kHeldUp;
        return false;
    }
    return run_.enter_step(member, at);
}

// Whether the steps that the sequence's step waits for are done; its clock is then not before them.
bool ThreadBlockRun::released(std::uint32_t member, std::size_t at, std::size_t step) {
    StepClock& clock = run_.sequences_[at].clock;
    for (const ThreadBlocks::Wait& wait : thread_blocks_->waits(step)) {
        const auto& other = run_.sequences_[program_->sequence_at(member, wait.thread_block)];
        // A step that is done has been left.
        if (other.step == CollectiveRun::kNotStarted || other.step <= wait.step) {
            return false;
        }
        const Program::Step& before = program_->steps(member, wait.thread_block)[wait.step];
        clock.now_ps = std::max(clock.now_ps, done_ps_[program_->number_of(before)]);
    }
    return true;
}

// True if it was the sequence's last.
bool ThreadBlockRun::complete_step(std::uint32_t member, std::size_t at) {
    CollectiveRun::Sequence& sequence = run_.sequences_[at];
    const std::size_t step = program_->number_of(program_->steps_at(at)[sequence.step]);
    for (const ThreadBlocks::Local& local : thread_blocks_->locals(step)) {
        const Bytes bytes =
            program_->bytes_of(Payload{local.to, 1, local.count}, member, run_.sizes_);
        run_.costs_.work(sequence.clock, bytes, local.reduce, {local.time_ps});
    }
    if (thread_blocks_->is_waited_for(step)) {
        done_ps_[step] = sequence.clock.end_ps();
    }
    return run_.complete_step(member, at);
}

void ThreadBlockRun::finish(std::uint32_t member, std::size_t at) {
    Member& all = members_[member];
    all.end_ps = std::max(all.end_ps, run_.sequences_[at].clock.end_ps());
    if (--all.left == 0) {
        run_.finish_soon(member, all.end_ps);
    }
}

}  // namespace astra
