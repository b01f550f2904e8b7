#include <array>

#include "system/engine/chunk_order.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const ChunkOrder k##name##ChunkOrder;
#include "system/chunk_order/builtins.def"
#undef ASTRA_BUILTIN

const Registry<ChunkOrder>& chunk_orders() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##ChunkOrder,
#include "system/chunk_order/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<ChunkOrder> table("chunk order", entries);
    return table;
}

}  // namespace astra
