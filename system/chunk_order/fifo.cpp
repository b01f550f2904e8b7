#include "system/engine/chunk_order.h"

namespace astra {

extern const ChunkOrder kFifoChunkOrder;
const ChunkOrder kFifoChunkOrder = {
    .name = "fifo",
    .summary = "that came to the dimension first",
    .key = [](const ChunkAt&, std::uint64_t arrival) { return arrival; }};

}  // namespace astra
