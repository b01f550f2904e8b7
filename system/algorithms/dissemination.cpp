// The dissemination barrier: in round k every member tells the one 2^k ahead that it is there.
// ceil(log2 n) rounds of empty messages. Hensgen, Finkel, Manber, "Two algorithms for barrier
// synchronization" (1988).
#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

void emit(const ProgramShape& shape, std::uint32_t, ProgramBuilder& builder) {
    const Payload nothing{0, 1, 0};
    for (std::uint64_t distance = 1; distance < shape.members; distance *= 2) {
        const auto ahead = static_cast<std::uint32_t>(distance);
        builder.send(ahead, nothing);
        builder.receive(shape.members - ahead, nothing, false);
    }
}

}  // namespace

extern const CollectiveAlgorithm kDisseminationAlgorithm;
const CollectiveAlgorithm kDisseminationAlgorithm = {
    .name = "dissemination",
    .summary = "barrier in ceil(log2 n) rounds of empty messages",
    .kinds = {CollectiveKind::Barrier},
    .blocks = [](const ProgramShape&) { return 1U; },
    .emit = emit,
};

}  // namespace astra
