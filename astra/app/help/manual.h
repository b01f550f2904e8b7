// The manual page of the program, made of what its commands declare.
#pragma once

#include <string>

namespace astra {

// In the macros of man(7).
std::string manual_page();

}  // namespace astra
