// The commands of the program: `astra <name> …`. To add one: a .cpp that defines `const Command
// k<Name>Command`, and one line in builtins.def.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "astra/core/registry.h"

namespace astra {

using Arguments = std::vector<std::string>;  // what follows the command's name

struct Command {
    std::string_view name;
    std::string_view summary;
    // Returns an exit status; throws the errors of astra/core/error.h.
    int (*run)(const Arguments& arguments);
};

const Registry<Command>& commands();

// Runs the command that `arguments` (without the program's name) begin with. Prints errors; returns
// the exit status of docs/results.md. Throws nothing.
int run_program(const Arguments& arguments);

}  // namespace astra
