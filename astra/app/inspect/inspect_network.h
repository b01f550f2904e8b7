// `astra inspect network`.
#pragma once

#include "astra/app/command.h"

namespace astra {

// `arguments` are what follows the word `network`. Returns an exit status; throws ConfigError for a
// bad study, and after the report for a fabric in which a pair of ranks has no path.
int inspect_network(const Arguments& arguments);

}  // namespace astra
