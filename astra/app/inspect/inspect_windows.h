// `astra inspect windows`: when the gradients of a training study are ready and when they are
// needed.
#pragma once

#include "astra/app/command.h"

namespace astra {

// The exit status. `arguments` are those after the word "windows".
int inspect_windows(const Arguments& arguments);

}  // namespace astra
