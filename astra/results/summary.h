// A run at a glance, for a person.
#pragma once

#include <string>

#include "astra/simulation/run_result.h"

namespace astra {

// Plain text, some twenty lines.
std::string summary(const RunResult& result);

// What nccl-tests call the factor from algorithm to bus bandwidth over n ranks: all_reduce
// 2(n-1)/n; all_gather, gather, scatter, reduce_scatter(_block), all_to_all (n-1)/n; others 1.
// (nccl-tests, doc/PERFORMANCE.md.)
double bus_factor(CollectiveKind kind, std::uint32_t ranks);

}  // namespace astra
