// What the study says about the queues in which chunks wait for a dimension of a rank.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/types.h"

namespace astra {

class ConfigView;
struct ChunkOrder;
extern const ChunkOrder kPriorityChunkOrder;

struct QueueConfig {
    enum class Scheduling : std::uint8_t { Lifo, Fifo, Priority };

    std::uint32_t active_chunks = 1;  // a dimension of a rank
    std::uint32_t queues = 1;         // a dimension
    // How long a chunk may wait behind a younger one whose peers have not come, before it passes
    // it.
    Duration patience;
    Scheduling scheduling = Scheduling::Fifo;  // the priority of a collective
    // Which waiting chunk goes first: by the first criterion, among equals by the next, at last by
    // arrival (chunk_order.h).
    std::vector<const ChunkOrder*> chunk_order{&kPriorityChunkOrder};

    // The keys of the same names in `system`. Throws ConfigError.
    static QueueConfig from_config(const ConfigView& system);
};

}  // namespace astra
