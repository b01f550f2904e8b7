// The commands of the program: `astra <name> …`. To add one: a .cpp that defines `const Command
// k<Name>Command`, and one line in builtins.def.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "astra/core/registry.h"

namespace astra {

class OptionSet;

using Arguments = std::vector<std::string>;  // what follows the command's name

// A command acts, or is a group of commands: `astra inspect network`. Its help, the completion of
// shells and the manual are made of what it declares.
struct Command {
    std::string_view name;
    std::string_view summary;
    std::string_view usage;  // "usage: astra …", an empty line, what it does
    void (*declare)(OptionSet& options) = nullptr;
    // Returns an exit status; throws the errors of astra/core/error.h.
    int (*act)(const OptionSet& options) = nullptr;
    // A group's commands; nullptr for one that acts.
    const Registry<Command>& (*parts)() = nullptr;
};

const Registry<Command>& commands();

// Runs a command of `table` with what follows the name of the table's owner; `group` is that name,
// "" for the program. Throws ConfigError and what the command throws.
int run_command(const Registry<Command>& table, std::string_view group, const Arguments& arguments);

// "astra 0.1.0", with the commit in brackets if that is known.
std::string version_text(std::string_view commit);

// Runs the command that `arguments` (without the program's name) begin with. Prints errors; returns
// the exit status of docs/results.md. Throws nothing. `commit`: of the sources, "" if unknown.
int run_program(const Arguments& arguments, std::string_view commit = "");

}  // namespace astra
