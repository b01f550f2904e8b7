// Finds the files of a job's traces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "astra/core/warnings.h"

namespace astra {

// PREFIX.<rank>.et|.et.gz|.et.zst|.json|.json.gz|.json.zst of ranks 0 … ranks-1. Throws one
// TraceError that names all missing ranks; warns of a file of one rank too many and of ranks with
// several files.
std::vector<std::string> find_trace_files(const std::string& prefix,
                                          std::uint32_t ranks,
                                          Warnings& warnings);

// How many ranks there are files for: 0, 1, … up to the first gap.
std::uint32_t count_trace_ranks(const std::string& prefix);

}  // namespace astra
