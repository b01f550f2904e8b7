// A program as thread blocks, so that it can be saved in the formats of custom collectives.
#pragma once

#include <string>

#include "astra/core/types.h"
#include "workload/custom_collective/thread_block_algorithm.h"

namespace astra {

// Why a program cannot be written as thread blocks, "" if it can: all_to_all and barrier, of which
// blocks have no place in a buffer, and programs that have thread blocks of their own.
std::string thread_blocks_refusal(const Program& program, CollectiveKind kind);

// A thread block for each peer that a member sends to, and for each that it receives from; every
// step waits for the one that comes before it in the member's sequence, so that it runs as the
// program does. In place. Requires that the program is not refused. Memory: all messages of all
// members.
ThreadBlockAlgorithm thread_block_algorithm_of(const Program& program,
                                               CollectiveKind kind,
                                               std::uint32_t root,
                                               const std::string& name);

}  // namespace astra
