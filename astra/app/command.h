// The commands of the program: `astra <name> …`. To add one: a .cpp that defines `const Command
// k<Name>Command`, and one line in builtins.def.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

using Arguments = std::vector<std::string>;  // what follows the command's name

struct Command {
    std::string_view name;
    std::string_view doc;
    // Returns an exit status; throws the errors of astra/core/error.h.
    int (*run)(const Arguments& arguments);
};

std::span<const Command* const> commands();

// Runs the command that `arguments` (without the program's name) begin with. Prints errors; returns
// the exit status of docs/results.md. Throws nothing.
int run_program(const Arguments& arguments);

}  // namespace astra
