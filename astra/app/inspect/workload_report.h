// What is in a workload, for a person, and what in it cannot work out.
#pragma once

#include <string>
#include <vector>

#include "workload/graph/execution_graph.h"

namespace astra {

// Counts, sizes and groups: some twenty lines of text.
std::string describe_workload(const Workload& workload);

// Without simulating: sends and receives between two ranks under one tag that do not pair up in
// number or size, and collectives that the members of a group do not all come to, or not in the
// same order. A line each.
std::vector<std::string> find_contradictions(const Workload& workload);

}  // namespace astra
