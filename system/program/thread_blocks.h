// Extension of a program: what thread blocks add to steps that send and receive. A member then has
// several sequences of steps, one a thread block, which run at once. A step waits for steps of
// other thread blocks of its member, then for its receives, does its work on the member's memory,
// and starts its sends.
//
// Steps and receives are those of the program, by number (Program::number_of, Step::first_receive).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace astra {

class ThreadBlocks {
  public:
    static constexpr std::size_t kMostOfMember = 0xffff;

    // A step of another thread block of the member, after which a step goes on. Thread blocks are
    // counted from 0 within the member, whatever their names.
    struct Wait {
        std::uint32_t thread_block = 0;
        std::uint32_t step = 0;
        bool operator==(const Wait&) const = default;
    };
    // Work within a member: the positions to, to + 1, … become what is at from, from + 1, …, or
    // have it added. Without positions it is a computation that takes `time_ps`.
    struct Local {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        std::uint32_t count = 0;
        bool reduce = false;
        std::uint64_t time_ps = 0;
        bool operator==(const Local&) const = default;
    };

    std::span<const Wait> waits(std::size_t step) const {
        return {waits_.data() + steps_[step].first_wait, steps_[step].waits};
    }
    std::span<const Local> locals(std::size_t step) const {
        return {locals_.data() + steps_[step].first_local, steps_[step].locals};
    }
    // Whether a step of another thread block waits for this one.
    bool is_waited_for(std::size_t step) const { return steps_[step].waited_for; }
    // The position from which on a receive that reduces takes what it adds: the positions that it
    // changes become what is at `addend + k` plus what came.
    std::uint32_t addend(std::uint32_t receive) const { return addends_[receive]; }
    // What the author of the program calls the thread block of that sequence.
    std::uint32_t name(std::size_t sequence) const { return names_[sequence]; }
    // Times are recorded ones: nothing is added to them at an endpoint.
    bool as_recorded() const { return as_recorded_; }

  private:
    friend class ThreadBlockBuilder;
    struct Step {
        std::uint32_t first_wait = 0;
        std::uint32_t waits = 0;
        std::uint32_t first_local = 0;
        std::uint32_t locals = 0;
        bool waited_for = false;
    };

    bool as_recorded_ = false;
    std::vector<std::uint32_t> names_;  // by sequence
    std::vector<Step> steps_;
    std::vector<Wait> waits_;
    std::vector<Local> locals_;
    std::vector<std::uint32_t> addends_;  // by receive
};

}  // namespace astra
