// Caramel's compute scheduling: which of several ready ops a rank runs first, and where updates
// stand. Hashemi and others, arXiv 2004.14020; the definitions are ours (docs/caramel.md).
#pragma once

#include <cstdint>
#include <vector>

#include "system/transfer/compute_order.h"

namespace astra {

// What leads to the gradient of the least slack goes first, among equals the lower op; ops that
// lead to no gradient come last, and what follows from a transfer stands right before its first
// reader, in the next iteration. O(ops · log ops + edges).
std::vector<std::uint32_t> tightest_first(const ComputeGraph& graph);

}  // namespace astra
