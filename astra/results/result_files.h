// result.json and the CSV files of a run; docs/results.md describes every field.
#pragma once

#include <string>

#include "astra/results/output_folder.h"
#include "astra/simulation/run_result.h"

namespace astra {

std::string result_json(const RunResult& result);
std::string ranks_csv(const RunResult& result);
std::string collectives_csv(const RunResult& result);
std::string links_csv(const RunResult& result);
std::string ops_csv(const RunResult& result);
std::string queues_csv(const RunResult& result);

// Writes result.json, ranks.csv; collectives.csv and links.csv unless they are empty or turned off;
// ops.csv and queues.csv if they were recorded; flows.csv with a flow set, or if messages were
// recorded.
void write_result_files(const RunResult& result, OutputFolder& folder);

}  // namespace astra
