// The table of collectives in the summary.
#pragma once

#include <string>

#include "astra/simulation/run_result.h"

namespace astra {

// Appends a row for what is alike: kind, algorithm, bytes, ranks, and the distance of the ranks in
// their groups; first what was exposed longest. Nothing without collectives.
void write_collective_summary(std::string& text, const RunResult& result);

}  // namespace astra
