// Puts the ops of a graph that came in any order into the order of their ids.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/graph/execution_graph.h"

namespace astra {

// Sorts the ops and renumbers details, names and roles by first appearance, so that the order in
// the file leaves no mark. The graph has no edges yet. Returns the new index of each op.
std::vector<std::uint32_t> sort_ops(ExecutionGraph& graph,
                                    std::vector<std::uint32_t>& peers,
                                    std::vector<std::string>& groups);

}  // namespace astra
