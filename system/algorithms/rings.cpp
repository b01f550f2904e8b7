#include "system/algorithms/rings.h"

namespace astra {

namespace {

// In step s a member sends what the member `behind` + s steps behind it owns.
void emit_steps(std::span<const Ring> rings,
                std::uint32_t behind,
                bool reduce,
                ProgramBuilder& builder) {
    const std::uint32_t size = rings.front().size;
    for (std::uint32_t step = 0; step + 1 < size; ++step) {
        const std::uint32_t sent = size - (behind + step) % size;
        for (std::uint32_t ring = 0; ring < rings.size(); ++ring) {
            builder.use_channel(ring);
            builder.send(rings[ring].peer(1), rings[ring].owned(sent));
        }
        for (std::uint32_t ring = 0; ring < rings.size(); ++ring) {
            builder.take_turns(ring);
            builder.receive(rings[ring].peer(size - 1), rings[ring].owned(sent + size - 1), reduce);
        }
    }
}

}  // namespace

void emit_ring_reduce_scatter(std::span<const Ring> rings, ProgramBuilder& builder) {
    emit_steps(rings, 1, true, builder);
}

void emit_ring_all_gather(std::span<const Ring> rings, ProgramBuilder& builder) {
    emit_steps(rings, 0, false, builder);
}

void emit_rings(CollectiveKind kind, std::span<const Ring> rings, ProgramBuilder& builder) {
    if (kind != CollectiveKind::AllGather) {
        emit_ring_reduce_scatter(rings, builder);
    }
    if (kind != CollectiveKind::ReduceScatter) {
        emit_ring_all_gather(rings, builder);
    }
}

}  // namespace astra
