#include "system/engine/chunk_order.h"

namespace astra {

extern const ChunkOrder kLifoChunkOrder;
const ChunkOrder kLifoChunkOrder = {
    .name = "lifo",
    .summary = "that came to the dimension last",
    .key = [](const ChunkAt&, std::uint64_t arrival) { return ~arrival; }};

}  // namespace astra
