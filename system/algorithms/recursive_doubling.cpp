// Recursive doubling: in step i a member exchanges with member ^ 2^i. n = 2^L.
//   all_reduce      L exchanges of all of it, S: least latency, L·S bytes
//   all_gather      nearest first, what it has: S/n, 2S/n, … S/2
//   reduce_scatter  the mirror image, recursive halving, farthest first: S/2, … S/n. A member
//                   reduces first the half that it sends on, and the other while that is in flight
// halvingDoubling takes the distances in the other order: its long messages go to neighbours.
// An all_reduce over another number of members folds, as halvingDoubling does.
// Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH"
// (2005).
#include <bit>

#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

std::string limit(const ProgramShape& shape) {
    if (std::has_single_bit(shape.members)) {
        return "";
    }
    // A program that folds is not the same for every member.
    const auto sends = static_cast<std::uint64_t>(std::bit_width(shape.members)) + 1;
    return shape.kind == CollectiveKind::AllReduce
               ? refuse_too_long(shape.members * sends)
               : "for this kind it needs a power of two of members";
}

// `member` is 0 in a relative program.
void all_reduce(std::uint32_t members, std::uint32_t member, ProgramBuilder& builder) {
    const std::uint32_t power = std::bit_floor(members);
    const Payload whole;
    if (member >= power) {
        builder.send(member - power, whole);
        builder.receive(member - power, whole, false);
        return;
    }
    const bool folds = member + power < members;
    if (folds) {
        builder.receive(member + power, whole, true);
    }
    for (std::uint32_t distance = 1; distance < power; distance *= 2) {
        builder.send(member ^ distance, whole);
        builder.receive(member ^ distance, whole, true);
    }
    if (folds) {
        builder.send(member + power, whole);
    }
}

void emit(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder) {
    builder.take_turns(0);
    const std::uint32_t n = shape.members;
    // The blocks of the `distance` members around a member, and around its peer.
    const auto near = [](std::uint32_t distance) { return Payload{0, 1, distance}; };
    const auto far = [](std::uint32_t distance) { return Payload{distance, 1, distance}; };
    switch (shape.kind) {
        case CollectiveKind::AllReduce:
            all_reduce(n, member, builder);
            break;
        case CollectiveKind::AllGather:
            for (std::uint32_t distance = 1; distance < n; distance *= 2) {
                builder.send(distance, near(distance));
                builder.receive(distance, far(distance), false);
            }
            break;
        default:
            for (std::uint32_t distance = n / 2; distance > 0; distance /= 2) {
                builder.send(distance, far(distance));
                builder.receive_partly(
                    distance, near(distance), distance > 1 ? distance / 2 : distance);
            }
            break;
    }
}

}  // namespace

extern const CollectiveAlgorithm kRecursiveDoublingAlgorithm;
const CollectiveAlgorithm kRecursiveDoublingAlgorithm = {
    .name = "recursiveDoubling",
    .summary = "log2 n exchanges, of all of it in an all_reduce",
    .kinds = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather},
    .limit = limit,
    .relation =
        [](const ProgramShape& shape) {
            return std::has_single_bit(shape.members) ? Relation::Xor : Relation::Absolute;
        },
    .blocks =
        [](const ProgramShape& shape) {
            return shape.kind == CollectiveKind::AllReduce ? 1U : shape.members;
        },
    .emit = emit,
};

}  // namespace astra
