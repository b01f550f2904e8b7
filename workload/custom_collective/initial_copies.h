// Copies that a GPU makes before its thread blocks start, as the element <copy> of SCCL, TACCL and
// TE-CCL has them.
#pragma once

#include <vector>

#include "workload/custom_collective/thread_block_algorithm.h"

namespace astra {

// Adds the copies (steps of the type Copy) as a thread block of their own. The first step of
// another that touches what they write, or writes what they read, waits for all of them; one that
// waits for something else already does so behind a nop. Nothing changes without copies.
void add_initial_copies(std::vector<ThreadBlockStep> copies, ThreadBlockGpu& gpu);

}  // namespace astra
