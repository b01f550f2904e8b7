// Collective kinds as options name them.
#pragma once

#include <string>

#include "astra/core/types.h"

namespace astra {

// "all_reduce" and so on. Throws ConfigError that names the option and the
// nearest kind.
CollectiveKind kind_named(const std::string &option, const std::string &name);

} // namespace astra
