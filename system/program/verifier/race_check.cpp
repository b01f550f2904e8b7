#include "system/program/verifier/race_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace astra {

namespace {

using Done = SymbolicExecution::Done;

constexpr std::uint32_t kNone = 0xffffffffU;
constexpr std::uint64_t kMostVisits = 100'000'000;

class RaceCheck {
  public:
    RaceCheck(const Program& program, const SymbolicState& state, const std::vector<Done>& order)
        : program_(program),
          thread_blocks_(*program.thread_blocks()),
          state_(state),
          order_(order),
          uses_(state.positions()) {
        member_of_.resize(program.sequences());
        kept_at_.resize(program.stored_steps());
        by_member_.resize(program.members());
        for (std::uint32_t member = 0; member < program.members(); ++member) {
            for (std::uint32_t block = 0; block < program.sequences_of(member); ++block) {
                member_of_[program.sequence_at(member, block)] = member;
            }
        }
        for (std::uint32_t event = 0; event < order.size(); ++event) {
            by_member_[member_of_[order[event].sequence]].push_back(event);
        }
    }

    std::string fault() {
        for (std::uint32_t member = 0; member < program_.members(); ++member) {
            if (program_.sequences_of(member) > 1 && !check(member)) {
                return fault_;
            }
        }
        return "";
    }

  private:
    // A position's last change and the reads since, as events: indices into `order_`. No two reads
    // are of one thread block.
    struct Uses {
        std::uint32_t write = kNone;
        std::vector<std::uint32_t> reads;
    };
    // The k-th entry: how many steps of thread block k are known to be done.
    using Clock = std::vector<std::uint32_t>;

    std::uint32_t block_of(std::uint32_t event) const {
        const std::uint32_t number = order_[event].sequence;
        return number - static_cast<std::uint32_t>(program_.sequence_at(member_of_[number], 0));
    }
    const Program::Step& step_of(const Done& done) const {
        return program_.steps_at(done.sequence)[done.step];
    }

    bool check(std::uint32_t member) {
        member_ = member;
        const std::uint32_t blocks = program_.sequences_of(member);
        clocks_.assign(blocks, Clock(blocks, 0));
        kept_.clear();
        for (const std::uint32_t position : used_) {
            uses_[position] = {};
        }
        used_.clear();
        for (const std::uint32_t event : by_member_[member]) {
            const std::uint32_t block = block_of(event);
            const Program::Step& step = step_of(order_[event]);
            Clock& clock = clocks_[block];
            const std::size_t number = program_.number_of(step);
            for (const ThreadBlocks::Wait& wait : thread_blocks_.waits(number)) {
                const Clock& other = kept_clock(member, wait);
                for (std::uint32_t k = 0; k < blocks; ++k) {
                    clock[k] = std::max(clock[k], other[k]);
                }
            }
            clock[block] = order_[event].step + 1;
            if (!use_all(event, step)) {
                return false;
            }
            if (thread_blocks_.is_waited_for(number)) {
                kept_at_[number] = static_cast<std::uint32_t>(kept_.size());
                kept_.push_back(clock);
            }
        }
        return true;
    }

    const Clock& kept_clock(std::uint32_t member, const ThreadBlocks::Wait& wait) const {
        return kept_[kept_at_[program_.number_of(
            program_.steps(member, wait.thread_block)[wait.step])]];
    }

    bool use_all(std::uint32_t event, const Program::Step& step) {
        for (std::uint32_t i = 0; i < step.receives; ++i) {
            const std::uint32_t op = step.first_receive + i;
            const Program::Receive& receive = program_.receive(op);
            for (std::uint32_t k = 0; k < state_.positions_in(receive.payload); ++k) {
                const std::uint32_t position = state_.position_of(member_, receive.payload, k);
                if (receive.reduce && state_.is_memory() &&
                    !use(event, thread_blocks_.addend(op) + k, false)) {
                    return false;
                }
                if (!use(event, position, true)) {
                    return false;
                }
            }
        }
        for (const ThreadBlocks::Local& local : thread_blocks_.locals(program_.number_of(step))) {
            for (std::uint32_t k = 0; k < local.count; ++k) {
                if (!use(event, local.from + k, false) || !use(event, local.to + k, true)) {
                    return false;
                }
            }
        }
        for (std::uint32_t i = 0; i < step.sends; ++i) {
            const Payload& payload = program_.send(step.first_send + i).payload;
            for (std::uint32_t k = 0; k < state_.positions_in(payload); ++k) {
                if (!use(event, state_.position_of(member_, payload, k), false)) {
                    return false;
                }
            }
        }
        return true;
    }

    bool use(std::uint32_t event, std::uint32_t position, bool change) {
        Uses& at = uses_[position];
        if (at.write == kNone && at.reads.empty()) {
            used_.push_back(position);
        }
        if (at.write != kNone && !ordered(at.write, event)) {
            return fail(at.write, event, position, true, change);
        }
        if (change) {
            for (const std::uint32_t read : at.reads) {
                if (!ordered(read, event)) {
                    return fail(read, event, position, false, true);
                }
            }
            at.reads.clear();
            at.write = event;
            return true;
        }
        for (std::uint32_t& read : at.reads) {
            if (order_[read].sequence == order_[event].sequence) {
                read = event;
                return true;
            }
        }
        at.reads.push_back(event);
        return true;
    }

    // Whether the step at `earlier` is done before that at `later` in every order.
    bool ordered(std::uint32_t earlier, std::uint32_t later) {
        return clocks_[block_of(later)][block_of(earlier)] > order_[earlier].step ||
               reaches(earlier, later);
    }

    // The order may come from messages through other members: rare, so no clocks are kept for it.
    bool reaches(std::uint32_t earlier, std::uint32_t later) {
        if (event_of_step_.empty()) {
            list_events();
        }
        std::vector<bool> seen(order_.size(), false);
        std::vector<std::uint32_t> left = {later};
        while (!left.empty() && ++visits_ < kMostVisits) {
            const std::uint32_t event = left.back();
            left.pop_back();
            if (event == earlier) {
                return true;
            }
            if (event < earlier || seen[event]) {
                continue;
            }
            seen[event] = true;
            add_before(event, left);
        }
        return false;
    }

    void add_before(std::uint32_t event, std::vector<std::uint32_t>& left) const {
        const Done& done = order_[event];
        const Program::Step& step = step_of(done);
        if (done.step > 0) {
            left.push_back(event_of_step_[program_.number_of(step) - 1]);
        }
        const std::uint32_t member = member_of_[done.sequence];
        for (const ThreadBlocks::Wait& wait : thread_blocks_.waits(program_.number_of(step))) {
            left.push_back(event_of_step_[program_.number_of(
                program_.steps(member, wait.thread_block)[wait.step])]);
        }
        for (std::uint32_t i = 0; i < step.receives; ++i) {
            left.push_back(event_of_send_[program_.receive(step.first_receive + i).send]);
        }
    }

    void list_events() {
        event_of_step_.resize(program_.stored_steps());
        event_of_send_.resize(program_.stored_sends());
        for (std::uint32_t event = 0; event < order_.size(); ++event) {
            const Program::Step& step = step_of(order_[event]);
            event_of_step_[program_.number_of(step)] = event;
            for (std::uint32_t i = 0; i < step.sends; ++i) {
                event_of_send_[step.first_send + i] = event;
            }
        }
    }

    bool fail(std::uint32_t earlier,
              std::uint32_t later,
              std::uint32_t position,
              bool earlier_changes,
              bool later_changes) {
        const auto name = [](bool change) { return change ? "changes" : "reads"; };
        fault_ = fmt::format(
            "{}: {} {}, which thread block {}, step {} {}, and nothing puts the two in "
            "order",
            program_.step_name(member_, block_of(later), order_[later].step),
            name(later_changes),
            state_.position_name(position),
            thread_blocks_.name(order_[earlier].sequence),
            order_[earlier].step,
            name(earlier_changes));
        return false;
    }

    const Program& program_;
    const ThreadBlocks& thread_blocks_;
    const SymbolicState& state_;
    const std::vector<Done>& order_;
    std::vector<Uses> uses_;
    std::vector<std::uint32_t> used_;
    std::vector<std::uint32_t> member_of_;               // by sequence
    std::vector<std::vector<std::uint32_t>> by_member_;  // events
    std::uint32_t member_ = 0;
    std::vector<Clock> clocks_;
    std::vector<Clock> kept_;             // of steps that others wait for
    std::vector<std::uint32_t> kept_at_;  // by step
    std::vector<std::uint32_t> event_of_step_;
    std::vector<std::uint32_t> event_of_send_;
    std::uint64_t visits_ = 0;
    std::string fault_;
};

}  // namespace

std::string race_fault(const Program& program,
                       const SymbolicState& state,
                       const std::vector<SymbolicExecution::Done>& order) {
    return RaceCheck(program, state, order).fault();
}

}  // namespace astra
