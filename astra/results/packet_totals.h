// What happened to packets on all links together, for result.json and the summary.
#pragma once

#include <string>

#include "astra/simulation/run_result.h"

namespace astra {

// The line "packets" of result.json. Empty without packets.
std::string packets_json(const RunResult& result);
// The longest queue and the totals, for people. Empty without packets.
std::string packets_summary(const RunResult& result);

}  // namespace astra
