// Part of the verifier: that no two thread blocks of a member use a position at once, so that every
// order in which they may run gives the same.
#pragma once

#include <string>
#include <vector>

#include "system/program/program.h"
#include "system/program/verifier/execution.h"
#include "system/program/verifier/symbolic_state.h"

namespace astra {

// Two steps of different thread blocks that use the same position, one of them changing it, and
// that neither waits nor messages put in order: the first pair, "" if there is none. Requires a
// program with thread blocks. `order` is one order in which the steps can be done. From `state`
// only the names of positions are used.
//
// Time and memory: a number for each step and thread block of one member, and the positions that
// are used.
std::string race_fault(const Program& program,
                       const SymbolicState& state,
                       const std::vector<SymbolicExecution::Done>& order);

}  // namespace astra
