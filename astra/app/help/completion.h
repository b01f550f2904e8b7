// What a shell completes, made of what the commands declare.
#pragma once

#include <string>

namespace astra {

// A script that bash sources.
std::string bash_completion();

}  // namespace astra
