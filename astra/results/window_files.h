// The windows of gradient transfers, before and after scheduling, as files.
#pragma once

#include <string>

#include "astra/simulation/run_result.h"

namespace astra {

std::string windows_csv(const RunResult& result);
// A picture: a bar a tensor, those that are read first at the top.
std::string windows_svg(const RunResult& result);

}  // namespace astra
