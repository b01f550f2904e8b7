#include "system/algorithms/ring_lanes.h"

namespace astra {

namespace {

// In step s a member sends what the member `behind` + s places behind it owns.
void emit_steps(std::span<const RingLane> lanes,
                std::uint32_t behind,
                bool reduce,
                ProgramBuilder& builder) {
    const std::uint32_t size = lanes.front().size;
    for (std::uint32_t step = 0; step + 1 < size; ++step) {
        const std::uint32_t sent = size - (behind + step) % size;
        for (const RingLane& lane : lanes) {
            builder.send(lane.peer(1), lane.owned(sent));
        }
        for (const RingLane& lane : lanes) {
            builder.receive(lane.peer(size - 1), lane.owned(sent + size - 1), reduce);
        }
    }
}

}  // namespace

void emit_ring_reduce_scatter(std::span<const RingLane> lanes, ProgramBuilder& builder) {
    emit_steps(lanes, 1, true, builder);
}

void emit_ring_all_gather(std::span<const RingLane> lanes, ProgramBuilder& builder) {
    emit_steps(lanes, 0, false, builder);
}

void emit_rings(CollectiveKind kind, std::span<const RingLane> lanes, ProgramBuilder& builder) {
    if (kind != CollectiveKind::AllGather) {
        emit_ring_reduce_scatter(lanes, builder);
    }
    if (kind != CollectiveKind::ReduceScatter) {
        emit_ring_all_gather(lanes, builder);
    }
}

}  // namespace astra
