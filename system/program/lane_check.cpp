#include "system/program/lane_check.h"

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
        : program_(program), state_(state), order_(order), slots_(state.slots()) {
        member_of_.resize(program.all_lanes());
        kept_at_.resize(program.all_steps());
        by_member_.resize(program.members());
        for (std::uint32_t member = 0; member < program.members(); ++member) {
            for (std::uint32_t lane = 0; lane < program.lanes(member); ++lane) {
                member_of_[program.lane_at(member, lane)] = member;
            }
        }
        for (std::uint32_t place = 0; place < order.size(); ++place) {
            by_member_[member_of_[order[place].lane]].push_back(place);
        }
    }

    std::string fault() {
        for (std::uint32_t member = 0; member < program_.members(); ++member) {
            if (program_.lanes(member) > 1 && !check(member)) {
                return fault_;
            }
        }
        return "";
    }

  private:
    // A slot's last change and the reads since, as places in `order_`; no two reads of one lane.
    struct Slot {
        std::uint32_t write = kNone;
        std::vector<std::uint32_t> reads;
    };
    // The k-th entry: how many steps of lane k are known to be done.
    using Clock = std::vector<std::uint32_t>;

    std::uint32_t lane_of(std::uint32_t place) const {
        const std::uint32_t number = order_[place].lane;
        return number - static_cast<std::uint32_t>(program_.lane_at(member_of_[number], 0));
    }
    const Program::Step& step_of(const Done& done) const {
        return program_.steps_at(done.lane)[done.step];
    }

    bool check(std::uint32_t member) {
        member_ = member;
        const std::uint32_t lanes = program_.lanes(member);
        clocks_.assign(lanes, Clock(lanes, 0));
        kept_.clear();
        for (const std::uint32_t slot : used_) {
            slots_[slot] = {};
        }
        used_.clear();
        for (const std::uint32_t place : by_member_[member]) {
            const std::uint32_t lane = lane_of(place);
            const Program::Step& step = step_of(order_[place]);
            Clock& clock = clocks_[lane];
            const Program::Extra& extra = program_.extra(step);
            for (const Program::Wait& wait : program_.waits(extra)) {
                const Clock& other = kept_clock(member, wait);
                for (std::uint32_t k = 0; k < lanes; ++k) {
                    clock[k] = std::max(clock[k], other[k]);
                }
            }
            clock[lane] = order_[place].step + 1;
            if (!use_all(place, step)) {
                return false;
            }
            if (extra.waited_for) {
                kept_at_[program_.step_at(step)] = static_cast<std::uint32_t>(kept_.size());
                kept_.push_back(clock);
            }
        }
        return true;
    }

    const Clock& kept_clock(std::uint32_t member, const Program::Wait& wait) const {
        return kept_[kept_at_[program_.step_at(program_.steps(member, wait.lane)[wait.step])]];
    }

    bool use_all(std::uint32_t place, const Program::Step& step) {
        for (std::uint32_t i = 0; i < step.receives; ++i) {
            const std::uint32_t op = step.first_receive + i;
            const Program::Receive& receive = program_.receive(op);
            for (std::uint32_t k = 0; k < state_.slots_in(receive.payload); ++k) {
                const std::uint32_t slot = state_.slot_of(member_, receive.payload, k);
                if (receive.reduce && state_.is_memory() &&
                    !use(place, program_.addend(op) + k, false)) {
                    return false;
                }
                if (!use(place, slot, true)) {
                    return false;
                }
            }
        }
        for (const Program::Local& local : program_.locals(program_.extra(step))) {
            for (std::uint32_t k = 0; k < local.count; ++k) {
                if (!use(place, local.from + k, false) || !use(place, local.to + k, true)) {
                    return false;
                }
            }
        }
        for (std::uint32_t i = 0; i < step.sends; ++i) {
            const Payload& payload = program_.send(step.first_send + i).payload;
            for (std::uint32_t k = 0; k < state_.slots_in(payload); ++k) {
                if (!use(place, state_.slot_of(member_, payload, k), false)) {
                    return false;
                }
            }
        }
        return true;
    }

    bool use(std::uint32_t place, std::uint32_t slot, bool change) {
        Slot& at = slots_[slot];
        if (at.write == kNone && at.reads.empty()) {
            used_.push_back(slot);
        }
        if (at.write != kNone && !ordered(at.write, place)) {
            return fail(at.write, place, slot, true, change);
        }
        if (change) {
            for (const std::uint32_t read : at.reads) {
                if (!ordered(read, place)) {
                    return fail(read, place, slot, false, true);
                }
            }
            at.reads.clear();
            at.write = place;
            return true;
        }
        for (std::uint32_t& read : at.reads) {
            if (order_[read].lane == order_[place].lane) {
                read = place;
                return true;
            }
        }
        at.reads.push_back(place);
        return true;
    }

    // Whether the step at `earlier` is done before that at `later` in every order.
    bool ordered(std::uint32_t earlier, std::uint32_t later) {
        return clocks_[lane_of(later)][lane_of(earlier)] > order_[earlier].step ||
               reaches(earlier, later);
    }

    // By way of messages through other members: rare, so that no clocks are kept for it.
    bool reaches(std::uint32_t earlier, std::uint32_t later) {
        if (places_.empty()) {
            list_places();
        }
        std::vector<bool> seen(order_.size(), false);
        std::vector<std::uint32_t> left = {later};
        while (!left.empty() && ++visits_ < kMostVisits) {
            const std::uint32_t place = left.back();
            left.pop_back();
            if (place == earlier) {
                return true;
            }
            if (place < earlier || seen[place]) {
                continue;
            }
            seen[place] = true;
            add_before(place, left);
        }
        return false;
    }

    void add_before(std::uint32_t place, std::vector<std::uint32_t>& left) const {
        const Done& done = order_[place];
        const Program::Step& step = step_of(done);
        if (done.step > 0) {
            left.push_back(places_[program_.step_at(step) - 1]);
        }
        const std::uint32_t member = member_of_[done.lane];
        for (const Program::Wait& wait : program_.waits(program_.extra(step))) {
            left.push_back(places_[program_.step_at(program_.steps(member, wait.lane)[wait.step])]);
        }
        for (std::uint32_t i = 0; i < step.receives; ++i) {
            left.push_back(places_of_sends_[program_.receive(step.first_receive + i).send]);
        }
    }

    void list_places() {
        places_.resize(program_.all_steps());
        places_of_sends_.resize(program_.stored_sends());
        for (std::uint32_t place = 0; place < order_.size(); ++place) {
            const Program::Step& step = step_of(order_[place]);
            places_[program_.step_at(step)] = place;
            for (std::uint32_t i = 0; i < step.sends; ++i) {
                places_of_sends_[step.first_send + i] = place;
            }
        }
    }

    bool fail(std::uint32_t earlier,
              std::uint32_t later,
              std::uint32_t slot,
              bool earlier_changes,
              bool later_changes) {
        const auto name = [](bool change) { return change ? "changes" : "reads"; };
        fault_ = fmt::format(
            "{}: {} {}, which lane {}, step {} {}, and nothing puts the two in "
            "order",
            program_.place(member_, lane_of(later), order_[later].step),
            name(later_changes),
            state_.slot_name(slot),
            program_.lane_name(member_, lane_of(earlier)),
            order_[earlier].step,
            name(earlier_changes));
        return false;
    }

    const Program& program_;
    const SymbolicState& state_;
    const std::vector<Done>& order_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> used_;
    std::vector<std::uint32_t> member_of_;               // by lane
    std::vector<std::vector<std::uint32_t>> by_member_;  // places in the order
    std::uint32_t member_ = 0;
    std::vector<Clock> clocks_;
    std::vector<Clock> kept_;             // of steps that others wait for
    std::vector<std::uint32_t> kept_at_;  // by step
    std::vector<std::uint32_t> places_;
    std::vector<std::uint32_t> places_of_sends_;
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
