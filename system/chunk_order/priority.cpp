#include "system/engine/chunk_order.h"

namespace astra {

extern const ChunkOrder kPriorityChunkOrder;
const ChunkOrder kPriorityChunkOrder = {
    .name = "priority",
    .summary = "of the collective that goes first, as `scheduling` says",
    .key = [](const ChunkAt& at, std::uint64_t) { return ~at.instance->priority; }};

}  // namespace astra
