// Bruck's algorithms: ceil(log2 n) steps for any number of members.
//   all_gather      before the step of distance d = 1, 2, 4, … a member has its block and the
//   d-1
//                   after it, and sends them to the member d back, but no more than that one lacks:
//                   (n-1)/n · S in all
//   reduce_scatter  the mirror image, farthest first      all_reduce  both
//   all_to_all      the block for the member j ahead moves by the ones of j in binary: in the step
//                   of distance d all blocks whose j has that bit go d ahead in one message, about
//                   S/2 a step
// Copies into and out of the order in which a message has its blocks cost nothing here.
// Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications in
// multiport message-passing systems" (1997).
#include <algorithm>
#include <bit>

#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

void all_gather(std::uint32_t n, ProgramBuilder& builder) {
    for (std::uint32_t d = 1; d < n; d *= 2) {
        const std::uint32_t count = std::min(d, n - d);
        builder.send(n - d, {0, 1, count});
        builder.receive(d, {d, 1, count}, false);
    }
}

void reduce_scatter(std::uint32_t n, ProgramBuilder& builder) {
    for (std::uint32_t d = std::bit_ceil(n) / 2; d > 0; d /= 2) {
        const std::uint32_t count = std::min(d, n - d);
        builder.send(d, {d, 1, count});
        // The next step sends on the blocks from d/2 on.
        const std::uint32_t kept = d / 2;
        const std::uint32_t urgent = d == 1 ? count : count - std::min(count, kept);
        builder.receive_partly(n - d, {0, 1, count}, urgent);
    }
}

void all_to_all(std::uint32_t n, ProgramBuilder& builder) {
    for (std::uint32_t d = 1; d < n; d *= 2) {
        // j = d + 2d·q + l with l < d: from the member l behind, for the member j - l ahead.
        std::uint32_t count = 0;
        for (std::uint32_t j = d; j < n; ++j) {
            count += (j & d) != 0 ? 1 : 0;
        }
        builder.send(d, {d, 2 * d, count, {0, d, n - 1}});
        builder.receive(n - d, {0, 2 * d, count, {n - d, d, n - 1}}, false);
    }
}

void emit(const ProgramShape& shape, std::uint32_t, ProgramBuilder& builder) {
    builder.take_turns(0);
    if (shape.kind == CollectiveKind::AllToAll) {
        all_to_all(shape.members, builder);
        return;
    }
    if (shape.kind != CollectiveKind::AllGather) {
        reduce_scatter(shape.members, builder);
    }
    if (shape.kind != CollectiveKind::ReduceScatter) {
        all_gather(shape.members, builder);
    }
}

}  // namespace

extern const CollectiveAlgorithm kBruckAlgorithm;
const CollectiveAlgorithm kBruckAlgorithm = {
    .name = "bruck",
    .summary = "ceil(log2 n) steps for any number of members",
    .kinds = {CollectiveKind::AllGather,
              CollectiveKind::ReduceScatter,
              CollectiveKind::AllReduce,
              CollectiveKind::AllToAll},
    .emit = emit,
};

}  // namespace astra
