// The last step of building a program after pairing: the order in which messages come to a member.
#pragma once

#include <cstdint>
#include <span>

#include "system/program/program.h"

namespace astra {

// Numbers what takes turns at a member (Program::Send::turns, turn), in the order of its receives.
class TurnOrder {
  public:
    // Of a receive: whatever number the builder gave those that take turns with each other, and how
    // many of them leave before; kInOrder: as many as are received before.
    static constexpr std::uint32_t kInOrder = 0xffffffffU;
    struct Turn {
        std::uint32_t number = Program::kNoTurns;
        std::uint32_t after = kInOrder;
    };
    // All sends are there and paired. `turns` by stored receive.
    TurnOrder(Program& program, std::span<const Turn> turns) : program_(program), turns_(turns) {}

    // Nothing is kept where only messages of one sender follow each other.
    void number();

  private:
    template <typename Visit>
    void for_each_receive(Visit visit) const;
    bool meets_several() const;

    Program& program_;
    std::span<const Turn> turns_;
};

}  // namespace astra
