// Part of the verifier: a program executed on symbols instead of data. Messages are taken in the
// order in which steps list them; sequences go on as far as they can, one after the other.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "system/program/program.h"
#include "system/program/verifier/symbolic_state.h"

namespace astra {

class SymbolicExecution {
  public:
    // A step that is done: the number of its sequence (Program::sequence_at), and of it there.
    struct Done {
        std::uint32_t sequence = 0;
        std::uint32_t step = 0;
    };

    // Requires numbers within range (range_check.h). Both outlive the execution.
    SymbolicExecution(const Program& program, SymbolicState& state);
    // Only who waits for whom, of a program whose data are not known.
    explicit SymbolicExecution(const Program& program);

    // The first fault, a deadlock among them; "" if everyone comes to the end.
    std::string run();
    // An order in which steps can be done; kept for programs with thread blocks only.
    const std::vector<Done>& order() const { return order_; }

  private:
    using Words = std::vector<std::uint64_t>;
    static constexpr std::uint64_t kNothing = std::numeric_limits<std::uint64_t>::max();

    struct Progress {
        std::uint32_t member = 0;
        std::uint32_t sequence = 0;  // of the member
        std::uint32_t step = 0;
        std::uint32_t receive = 0;           // of the step
        std::uint64_t waits_for = kNothing;  // message
        bool held_up = false;                // by a step of another thread block
    };

    bool advance(std::size_t at);
    const ThreadBlocks::Wait* unfulfilled(const Progress& at, const Program::Step& step) const;
    bool send(const Progress& at, std::uint32_t op);
    bool take(const Progress& at, std::uint32_t op, const Words& contents);
    bool reduce(const Progress& at,
                std::uint32_t position,
                std::uint32_t addend,
                const std::uint64_t* received);
    bool work(const Progress& at, const Program::Step& step);
    bool same_blocks(const Progress& at,
                     const Payload& received,
                     std::uint32_t sender,
                     const Payload& sent);
    void complete(std::size_t number, const Program::Step& step);
    void release(std::uint32_t member);
    std::string deadlock() const;
    bool fail(const Progress& at, std::string_view fault);
    static std::uint64_t message_of(std::uint32_t sender, std::uint32_t op) {
        return std::uint64_t{sender} << 32U | op;
    }

    const Program& program_;
    const ThreadBlocks* thread_blocks_;
    SymbolicState* state_ = nullptr;  // null: data are not known
    std::vector<Progress> progress_;  // by sequence
    std::vector<std::size_t> ready_;
    std::unordered_map<std::uint64_t, Words> in_flight_;  // by message; looked up, never walked
    std::vector<Done> order_;
    std::string fault_;
};

}  // namespace astra
