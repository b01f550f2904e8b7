// Extension of a program: buffers in a member's memory.
#pragma once

#include <cstdint>

namespace astra {

// A program without it moves blocks of the collective's buffer: what is sent as block 3 is received
// as block 3. With it a member has a memory of `positions`, each as long as a block, and a message
// may be received at other positions than it was sent from. MSCCL's buffers are parts of it, and an
// offset into a buffer is a position.
struct BufferLayout {
    std::uint32_t positions = 0;  // of a member; one beyond the blocks counts as a longer block
    // The blocks that a member has at the start lie in ascending order from position `input` on,
    // and those that it has at the end from position `output` on. In place both are where the
    // block's number says.
    bool in_place = true;
    std::uint32_t input = 0;
    std::uint32_t output = 0;
    bool operator==(const BufferLayout&) const = default;
};

}  // namespace astra
