// A synthesiser makes programs for the very links between the ranks of a group. To add one: a .cpp
// in this folder that defines `const Synthesiser k<Name>Synthesiser`, and one line in builtins.def.
// Its name stands where that of an algorithm can (algorithm.h); a number may follow it.
#pragma once

#include <span>
#include <string_view>

#include "astra/core/registry.h"
#include "system/program/program_source.h"

namespace astra {

struct Synthesiser {
    std::string_view name = {};
    std::string_view summary = {};
    const ProgramSource& source;
};

const Registry<Synthesiser>& synthesisers();

}  // namespace astra
