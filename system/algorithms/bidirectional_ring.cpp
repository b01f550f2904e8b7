// Half of the data goes round the ring in each direction, so that both directions of its links
// work.
//   all_reduce                   2(n-1) steps of two messages of S/2n
//   reduce_scatter, all_gather   n-1 steps of the same
// On links of bandwidth B a direction an all_reduce takes 2(n-1)/n · S/2B, half the time of a ring.
#include <array>

#include "system/algorithms/algorithm.h"
#include "system/algorithms/rings.h"

namespace astra {

namespace {

void emit(const ProgramShape& shape, std::uint32_t, ProgramBuilder& builder) {
    const std::uint32_t n = shape.members;
    const std::array rings = {Ring{n, 1, n, 2, 0, 1, 1}, Ring{n, n - 1, n, 2, 1, 1, 1}};
    emit_rings(shape.kind, rings, builder);
}

}  // namespace

extern const CollectiveAlgorithm kBidirectionalRingAlgorithm;
const CollectiveAlgorithm kBidirectionalRingAlgorithm = {
    .name = "bidirectionalRing",
    .summary = "a ring in each direction, with half of the data each",
    .kinds = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather},
    .blocks = [](const ProgramShape& shape) { return 2 * shape.members; },
    .emit = emit,
};

}  // namespace astra
