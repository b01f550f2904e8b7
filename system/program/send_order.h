// The last step of building a program after pairing: the order in which a member's messages leave.
#pragma once

#include <cstdint>

#include "system/program/program.h"

namespace astra {

// Numbers the queues and the connections of each member, and marks the last message of a connection
// (Program::Send). A queue is a channel, the same at all levels, or a thread block: what it holds
// leaves in the order of the program, one message after the other. A concurrent message is in a
// queue of its connection alone.
class SendOrder {
  public:
    // All sends are there and paired.
    explicit SendOrder(Program& program) : program_(program) {}

    void number();

  private:
    void number_role(std::uint32_t role);

    Program& program_;
};

}  // namespace astra
