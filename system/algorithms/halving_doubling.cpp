// Recursive halving and doubling. With n = 2^L members, step i exchanges with member ^ 2^i:
//   reduce_scatter  halves what is left each step: S/2, S/4, …    all_gather  the mirror image
//   all_reduce      both: 2·L steps, 2(n-1)/n·S bytes
// A member reduces first the half that it sends on, and the other while that is in flight.
// An all_reduce over another number of members folds: with p the largest power of two below n,
// members p and above first hand all they have to member - p, and get the result back at the end.
// Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH"
// (2005).
#include <bit>

#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

// Emits for one member of a power of two.
struct Emitter {
    std::uint32_t power;   // of two; also the number of blocks
    std::uint32_t member;  // added by XOR: 0 in a relative program
    ProgramBuilder& builder;

    // The blocks that agree with `member ^ flipped` in the bits below 2·distance.
    Payload half(std::uint32_t distance, std::uint32_t flipped) const {
        const std::uint32_t stride = 2 * distance;
        return {(member ^ flipped) % stride, stride, power / stride};
    }
    void halve() const {
        for (std::uint32_t distance = 1; distance < power; distance *= 2) {
            builder.send(member ^ distance, half(distance, distance));
            const Payload kept = half(distance, 0);
            // Half of what arrives is sent on in the next step and reduced first.
            builder.receive_partly(member ^ distance, kept, kept.count > 1 ? kept.count / 2 : 1);
        }
    }
    void redouble() const {
        for (std::uint32_t distance = power / 2; distance > 0; distance /= 2) {
            builder.send(member ^ distance, half(distance, 0));
            builder.receive(member ^ distance, half(distance, distance), false);
        }
    }
};

std::string limit(const ProgramShape& shape) {
    if (std::has_single_bit(shape.members)) {
        return "";
    }
    // A program that folds is not the same for every member.
    const auto sends = 2 * static_cast<std::uint64_t>(std::bit_width(shape.members));
    return shape.kind == CollectiveKind::AllReduce
               ? refuse_too_long(shape.members * sends)
               : "for this kind it needs a power of two of members";
}

void emit(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder) {
    builder.take_turns(0);
    const std::uint32_t power = std::bit_floor(shape.members);
    const Payload whole{0, 1, power};
    if (member >= power) {
        builder.send(member - power, whole);
        builder.receive(member - power, whole, false);
        return;
    }
    const bool folds = member + power < shape.members;
    if (folds) {
        builder.receive(member + power, whole, true);
    }
    const Emitter steps{power, member, builder};
    if (shape.kind != CollectiveKind::AllGather) {
        steps.halve();
    }
    if (shape.kind != CollectiveKind::ReduceScatter) {
        steps.redouble();
    }
    if (folds) {
        builder.send(member + power, whole);
    }
}

}  // namespace

extern const CollectiveAlgorithm kHalvingDoublingAlgorithm;
const CollectiveAlgorithm kHalvingDoublingAlgorithm = {
    .name = "halvingDoubling",
    .summary =
        "recursive halving, then doubling; all_reduce folds other numbers than powers of two",
    .kinds = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather},
    .limit = limit,
    .relation =
        [](const ProgramShape& shape) {
            return std::has_single_bit(shape.members) ? Relation::Xor : Relation::Absolute;
        },
    .blocks = [](const ProgramShape& shape) { return std::bit_floor(shape.members); },
    .emit = emit,
};

}  // namespace astra
