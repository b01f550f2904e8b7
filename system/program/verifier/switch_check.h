// Part of the verifier: that a switch can do what a program says it does (switch_operations.h).
//
// A multicast goes to different members, one message each, and a reduction takes one message each
// of different members. A message is part of a multicast or of a reduction, not of both: what a
// switch that sums up and copies at once sends over which link is not defined.
#pragma once

#include <string>

#include "system/program/program.h"

namespace astra {

// The first fault, "" if there is none. Requires numbers within range (range_check.h). Time: that
// of the messages which switches handle.
std::string switch_fault(const Program& program);

}  // namespace astra
