// Quantities as text that parses back to the same value, for the effective configuration.
#pragma once

#include <string>

#include "astra/core/types.h"

namespace astra {

std::string exact_text(Duration duration);    // "10ns", "1.5us"
std::string exact_text(Bytes bytes);          // "1MiB", "1000B"
std::string exact_text(Bandwidth bandwidth);  // "400Gbps", "536870912000bps"
std::string exact_text(double number);        // the shortest text that is this double

}  // namespace astra
