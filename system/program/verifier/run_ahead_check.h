// Part of the verifier: whether a program comes to its end though a sender is only so many messages
// ahead of what its receiver has taken, and messages take turns at a receiver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "system/program/program.h"

namespace astra {

// What a member sends waits in its queue (Program::Send::queue) until the messages before it have
// left, and `bound` or fewer of its connection have not been taken, and until it is its turn at the
// receiver; a message is taken by the step in hand of its receiver. Who waits for whom is the same
// in whatever order members go on, so that one order proves all (a marked graph: Commoner, Holt,
// Even, Pnueli, "Marked directed graphs", 1971).
class RunAheadCheck {
  public:
    // The program is free of faults where any number may be ahead, and outlives the check.
    RunAheadCheck(const Program& program, std::uint32_t bound);

    // Who waits for ever, "" if all come to the end. Time and memory: the messages.
    std::string fault();

  private:
    struct Progress {
        std::uint32_t member = 0;
        std::uint32_t sequence = 0;  // of the member
        std::uint32_t step = 0;
        std::uint32_t missing = 0;          // messages of the step in hand
        bool begun = false;                 // the step in hand takes messages
        std::vector<std::uint32_t> parked;  // sends that have come for later steps
    };

    void advance(std::size_t number);
    bool is_held_up(const Progress& at, const Program::Step& step) const;
    void begin_step(Progress& at, const Program::Step& step);
    void send(std::uint32_t member, std::uint32_t op);
    void go_on(std::uint32_t member, std::uint32_t queue);
    bool is_its_turn(std::uint32_t member, const Program::Send& send);
    void end_turn(std::uint32_t member, const Program::Send& send);
    void deliver(std::uint32_t member, std::uint32_t op);
    void take(std::uint32_t member, std::uint32_t op);
    std::deque<std::uint32_t>& queue(std::uint32_t member, std::uint32_t number) {
        return queues_[std::size_t{member} * program_.order().queues + number];
    }
    std::uint32_t& ahead(std::uint32_t member, std::uint32_t connection) {
        return ahead_[std::size_t{member} * program_.order().connections + connection];
    }
    std::uint32_t& turn(std::uint32_t member, std::uint32_t turns) {
        return turn_[std::size_t{member} * program_.order().turns + turns];
    }

    const Program& program_;
    const std::uint32_t bound_;
    std::vector<Progress> progress_;  // by sequence
    std::vector<std::size_t> ready_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> freed_;  // members and queues
    std::vector<std::deque<std::uint32_t>> queues_;               // sends, by member and queue
    std::vector<std::uint32_t> ahead_;                            // by member and connection
    std::vector<std::uint32_t> turn_;  // how many have left, by member, turns
};

}  // namespace astra
