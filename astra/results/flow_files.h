// What result.json, flows.csv and the summary say of flows.
#pragma once

#include <string>

#include "astra/simulation/run_result.h"

namespace astra {

// The line `"flows": {…},` of result.json; "" without statistics.
std::string flows_json(const RunResult& result);
// A line a flow; with a column `job` where jobs have names.
std::string flows_csv(const RunResult& result);
// Lines for a person; "" without statistics.
std::string flows_summary(const RunResult& result);

}  // namespace astra
