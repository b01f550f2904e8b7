// Training in the result files and the summary.
#pragma once

#include <string>

#include "astra/simulation/run_result.h"

namespace astra {

// Lines of result.json, "" without iterations.
std::string training_json(const RunResult& result);
std::string transfers_csv(const RunResult& result);
// Lines for people, "" without iterations.
std::string training_summary(const RunResult& result);

}  // namespace astra
