// The process groups that PyTorch's traces define in the inputs of a METADATA node.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workload/graph/execution_graph.h"

namespace astra {

// `text` is [{"pg_name": "0", "ranks": [0, 1]}, …] as JSON, also when it is wrapped as a list that
// holds it as one text. No ranks means all. Nothing when it is malformed or a rank is out of range.
std::optional<std::vector<GroupDefinition>> parse_process_groups(std::string_view text,
                                                                 std::uint32_t ranks);

// True when no rank occurs twice.
bool all_distinct(const std::vector<std::uint32_t>& ranks);

}  // namespace astra
