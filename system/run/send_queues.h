// The messages that members of a program have come to and that have not left: each queue of a
// member keeps the order of the program (Program::Send::queue), a sender runs only so far ahead of
// a receiver, and what takes turns at a receiver comes in the order of its receives.
#pragma once

#include <cstdint>
#include <vector>

#include "system/program/program.h"

namespace astra {

class SendQueues {
  public:
    struct Waiting {
        std::uint64_t at_ps = 0;  // not before
        std::uint32_t send = 0;
        std::uint32_t next = 0;
    };

    // At most `run_ahead` messages of a connection that its receiver has not taken; 0: any number.
    // Nothing is kept if no message can ever have to wait for another.
    void begin(const Program& program, std::uint32_t run_ahead);
    void clear() { used_ = false; }

    bool used() const { return used_; }
    // Whether queues go on only when they are told that a message has left.
    bool one_at_a_time() const {
        return used_ && (program_->order().fans_out || program_->order().takes_turns);
    }

    void push(std::uint32_t member, std::uint32_t send, std::uint64_t at_ps);
    // Takes the first message of the queue out of it if it may leave by now or later.
    bool pop(std::uint32_t member, std::uint32_t queue, Waiting& message);
    // The message that was taken last leaves at that time, or has left.
    void leaves(std::uint32_t member, const Program::Send& send, std::uint64_t at_ps);
    // A queue of another member that may go on since a message had its turn, each one once.
    struct Woken {
        std::uint32_t member = 0;
        std::uint32_t queue = 0;
        std::uint32_t by = 0;  // the member whose message had its turn before
    };
    bool pop_woken(Woken& woken);
    // The receiver has taken a message. True if the queue that it was in may go on.
    bool taken(std::uint32_t member, const Program::Send& send);
    // Whether the message that was taken out last, of this connection, could not leave before its
    // receiver had taken an earlier one.
    bool was_limited(std::uint32_t member, const Program::Send& send) {
        return run_ahead_ > 0 && connection(member, send).sent > run_ahead_;
    }
    // From now on any number may be ahead.
    void forget_run_ahead() { run_ahead_ = 0; }

  private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    // What comes to a member under a number of turns.
    struct Turns {
        std::uint64_t free_ps = 0;  // those that have left had done so
        std::uint32_t left = 0;
    };
    struct Queue {
        std::uint64_t free_ps = 0;  // the message before has left
        std::uint32_t first = kNone;
        std::uint32_t last = kNone;
        bool busy = false;  // until it is told when the message before has left
    };

    struct Connection {
        std::uint32_t sent = 0;
        std::uint32_t taken = 0;
    };

    Queue& queue(std::uint32_t member, std::uint32_t number) {
        return queues_[std::size_t{member} * program_->order().queues + number];
    }
    Connection& connection(std::uint32_t member, const Program::Send& send) {
        return connections_[std::size_t{member} * program_->order().connections + send.connection];
    }

    Turns& turns(std::uint32_t member, const Program::Send& send) {
        return turns_[std::size_t{program_->peer_of(member, send.peer)} * program_->order().turns +
                      send.turns];
    }
    bool takes_turn(const Program::Send& send) const {
        return program_->order().takes_turns && send.turns != Program::kNoTurns;
    }

    const Program* program_ = nullptr;
    bool used_ = false;
    std::uint32_t run_ahead_ = 0;
    std::vector<Queue> queues_;            // by member and queue
    std::vector<Connection> connections_;  // by member and connection; empty without a limit
    std::vector<Turns> turns_;             // by receiver and turns
    std::vector<Woken> woken_;
    std::vector<Waiting> waiting_;
    std::uint32_t free_ = kNone;
};

}  // namespace astra
