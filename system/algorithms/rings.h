// Rings for the algorithms that run several at once, or rings of something else than neighbours.
#pragma once

#include <cstdint>
#include <span>

#include "system/program/program_builder.h"

namespace astra {

// A ring of `size` members, as one of them sees it. The member that is k steps ahead is the peer
// k·hop modulo `period`, and what it owns is the payload whose first block is that number times
// `blocks_a_peer`, plus `first_block`.
struct Ring {
    std::uint32_t size = 2;
    std::uint32_t hop = 1;
    std::uint32_t period = 2;
    std::uint32_t blocks_a_peer = 1;
    std::uint32_t first_block = 0;
    std::uint32_t stride = 1;  // of the blocks of a payload
    std::uint32_t count = 1;

    std::uint32_t peer(std::uint32_t ahead) const {
        return static_cast<std::uint32_t>(std::uint64_t{ahead % size} * hop % period);
    }
    Payload owned(std::uint32_t ahead) const {
        return {peer(ahead) * blocks_a_peer + first_block, stride, count};
    }
};

// size-1 steps, in each of which a member sends and receives one payload a ring. Afterwards it has
// the sum of what it owns. All rings have the same size.
void emit_ring_reduce_scatter(std::span<const Ring> rings, ProgramBuilder& builder);
// The same number of steps; from what everybody owns to everything.
void emit_ring_all_gather(std::span<const Ring> rings, ProgramBuilder& builder);
// The first of them, the second, or both: `kind` is reduce_scatter, all_gather or all_reduce.
void emit_rings(CollectiveKind kind, std::span<const Ring> rings, ProgramBuilder& builder);

}  // namespace astra
