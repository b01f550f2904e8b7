// Which of the chunks that wait for a dimension of a rank goes first. To add a criterion: a .cpp in
// system/chunk_order that defines `const ChunkOrder k<Name>ChunkOrder`, and one line in the
// builtins.def there.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "astra/core/registry.h"
#include "system/engine/collective_instance.h"

namespace astra {

struct ChunkOrder {
    std::string_view name;
    std::string_view summary;
    // The least goes first. `arrival` counts what has come to wait anywhere; two chunks of equal
    // keys go in the order of their arrival. Stays the same while the chunk waits. Depends on
    // nothing in which ranks of one collective differ but the arrival, so that they agree about its
    // chunks.
    std::uint64_t (*key)(const ChunkAt& chunk, std::uint64_t arrival);
};

const Registry<ChunkOrder>& chunk_orders();

// Criteria, each of which decides among those that are equal by the ones before it.
using ChunkOrders = std::vector<const ChunkOrder*>;

}  // namespace astra
