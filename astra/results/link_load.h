// How even the load of the links was, from a time series of them.
#pragma once

#include <string>

#include "astra/simulation/run_result.h"

namespace astra {

// What the link carried that carried most: a line of result.json and one of the summary; "" where
// links were not sampled.
std::string link_load_json(const RunResult& result);
std::string link_load_summary(const RunResult& result);

}  // namespace astra
