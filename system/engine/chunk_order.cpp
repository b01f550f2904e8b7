#include "system/engine/chunk_order.h"

#include <array>

namespace astra {

const ChunkOrder kPriorityChunkOrder = {
    "priority",
    "of the collective that goes first, as `scheduling` says",
    [](const ChunkAt& at, std::uint64_t) { return ~at.instance->priority; }};

namespace {

constexpr ChunkOrder kFifo = {"fifo",
                              "that came to the dimension first",
                              [](const ChunkAt&, std::uint64_t arrival) { return arrival; }};

constexpr ChunkOrder kLifo = {"lifo",
                              "that came to the dimension last",
                              [](const ChunkAt&, std::uint64_t arrival) { return ~arrival; }};

// As the first rank of the group sees it: parts of a chunk differ by a byte from rank to rank.
constexpr ChunkOrder kSmallestFirst = {"smallest_first",
                                       "with the least bytes to work on in the dimension",
                                       [](const ChunkAt& at, std::uint64_t) {
                                           CollectiveInstance& instance = *at.instance;
                                           return instance.plan
                                               ->phase_bytes(
                                                   instance.itinerary(at.chunk),
                                                   instance.phase_of(at.chunk, at.position),
                                                   0,
                                                   instance.chunk_bytes(at.chunk))
                                               .count;
                                       }};

}  // namespace

const Registry<ChunkOrder>& chunk_orders() {
    static constexpr std::array<const ChunkOrder*, 4> entries = {
        &kPriorityChunkOrder, &kFifo, &kLifo, &kSmallestFirst};
    static constexpr Registry<ChunkOrder> table("chunk order", entries);
    return table;
}

}  // namespace astra
