// Part of the verifier: that the order in which the messages of a tag come makes no difference
// (the rules are in verifier.h).
#pragma once

#include <string>

#include "system/program/program.h"
#include "system/program/verifier/symbolic_state.h"

namespace astra {

// The first fault, "" if there is none. The program's numbers are within range; of `state` only the
// names of blocks are used, not what they hold. Time and memory: those of the payloads and of one
// member's blocks.
std::string order_fault(const Program& program, const SymbolicState& state);

}  // namespace astra
