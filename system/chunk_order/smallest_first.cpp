#include "system/engine/chunk_order.h"

namespace astra {

// The bytes are those of the first rank of the group: parts of a chunk differ by a byte from rank
// to rank.
extern const ChunkOrder kSmallestFirstChunkOrder;
const ChunkOrder kSmallestFirstChunkOrder = {
    .name = "smallest_first",
    .summary = "with the least bytes to work on in the dimension",
    .key = [](const ChunkAt& at, std::uint64_t) {
        CollectiveInstance& instance = *at.instance;
        return instance.plan
            ->phase_bytes(instance.phases(at.chunk),
                          instance.phase_of(at.chunk, at.position),
                          0,
                          instance.chunk_bytes(at.chunk))
            .count;
    }};

}  // namespace astra
