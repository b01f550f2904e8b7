#pragma once

#include <string>
#include <vector>

namespace astra {

// The names of all kinds of collectives, by the number of the kind.
std::vector<std::string> collective_kind_names();

}  // namespace astra
