// Part of the verifier: what the execution relies on.
#pragma once

#include <cstdint>
#include <string>

#include "astra/core/types.h"
#include "system/program/program.h"

namespace astra {

// The first member, block, position or origin that a program names and that is not there; "" if all
// are. The root matters to kinds that have one.
std::string range_fault(const Program& program, CollectiveKind kind, std::uint32_t root);

}  // namespace astra
