// The flat tree: the root exchanges one message with every other member, all at once.
//   broadcast, reduce  n-1 messages of S        gather, scatter  n-1 messages of S/n
#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

bool is_by_block(CollectiveKind kind) {
    return kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter;
}

void emit(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder) {
    const bool inward =
        shape.kind == CollectiveKind::Reduce || shape.kind == CollectiveKind::Gather;
    const bool reduce = shape.kind == CollectiveKind::Reduce;
    const auto payload = [&](std::uint32_t of) {
        return is_by_block(shape.kind) ? Payload{of} : Payload{};
    };
    if (member != shape.root) {
        if (inward) {
            builder.send(shape.root, payload(member));
        } else {
            builder.receive(shape.root, payload(member), false);
        }
        return;
    }
    builder.send_concurrently();
    for (std::uint32_t k = 1; k < shape.members; ++k) {
        const std::uint32_t other = (shape.root + k) % shape.members;
        if (inward) {
            builder.receive(other, payload(other), reduce);
        } else {
            builder.send(other, payload(other));
        }
    }
}

}  // namespace

extern const CollectiveAlgorithm kFlatAlgorithm;
const CollectiveAlgorithm kFlatAlgorithm = {
    .name = "flat",
    .summary = "the root and every other member, all at once",
    .kinds = {CollectiveKind::Broadcast,
              CollectiveKind::Reduce,
              CollectiveKind::Gather,
              CollectiveKind::Scatter},
    .relation = [](const ProgramShape&) { return Relation::Absolute; },
    .blocks =
        [](const ProgramShape& shape) { return is_by_block(shape.kind) ? shape.members : 1U; },
    .emit = emit,
};

}  // namespace astra
