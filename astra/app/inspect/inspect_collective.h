// `astra inspect collective`.
#pragma once

#include "astra/app/command.h"

namespace astra {

// `arguments` are what follows the word `collective`. Returns an exit status;
// throws ConfigError for a bad machine, InputError for an algorithm that cannot
// do what is asked and, after the report, for a program that the verifier
// refutes.
int inspect_collective(const Arguments& arguments);

}  // namespace astra
