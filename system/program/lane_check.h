// Part of the verifier: that no two lanes of a member use a slot at once in a program with lanes,
// so that every order in which they may run gives the same.
#pragma once

#include <string>
#include <vector>

#include "system/program/execution.h"
#include "system/program/program.h"
#include "system/program/symbolic_state.h"

namespace astra {

// Two steps of different lanes that use the same slot, one of them changing it, and that neither
// waits nor messages put in order: the first pair, "" if there is none. `order` is one order in
// which the steps can be done. Of `state` only the names of slots are used.
//
// Time and memory: a number for each step and lane of one member, and the slots that are used.
std::string race_fault(const Program& program,
                       const SymbolicState& state,
                       const std::vector<SymbolicExecution::Done>& order);

}  // namespace astra
