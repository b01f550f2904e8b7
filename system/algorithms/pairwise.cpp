// Pairwise exchange: an all_to_all in n-1 steps, each with one partner and S/n in either direction.
// In step k that is member ^ k if n is a power of two; otherwise a member sends k ahead and
// receives from k behind. A step begins when the one before has been received, so that no member is
// sent to twice at a time. Thakur, Rabenseifner, Gropp, "Optimization of collective communication
// operations in MPICH" (2005).
#include <bit>

#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

void emit(const ProgramShape& shape, std::uint32_t, ProgramBuilder& builder) {
    builder.take_turns(0);
    const bool xor_partner = std::has_single_bit(shape.members);
    for (std::uint32_t k = 1; k < shape.members; ++k) {
        const std::uint32_t from = xor_partner ? k : shape.members - k;
        builder.send(k, {k});
        builder.receive(from, {0, 1, 1, {from}}, false);
    }
}

}  // namespace

extern const CollectiveAlgorithm kPairwiseAlgorithm;
const CollectiveAlgorithm kPairwiseAlgorithm = {
    .name = "pairwise",
    .summary = "one partner after the other",
    .kinds = {CollectiveKind::AllToAll},
    .relation =
        [](const ProgramShape& shape) {
            return std::has_single_bit(shape.members) ? Relation::Xor : Relation::Rotation;
        },
    .emit = emit,
};

}  // namespace astra
