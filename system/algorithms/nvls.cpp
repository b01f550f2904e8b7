// Reduction and multicast inside the switch, as NVIDIA's NVLink SHARP: a member owns a block of
// S/n, pulls its sum out of the switch and pushes it back in for all. Over the links of a member:
//   all_reduce      S out for the sums of the others and S/n of the sum that it owns; in as much:
//   S(1+1/n) reduce_scatter  S out             all_gather  S in (S the whole output)
// Klenk et al., "An in-network architecture for accelerating shared-memory multiprocessor
// collectives" (ISCA 2020), sections 4 and 5.
//
// The network knows messages between two ranks only. So the program is the direct exchange, which
// moves what the switch moves (n-1 messages of S/n a half) and says what the switch does with it
// (switch_operations.h), and its messages cross the links with
// as many bytes as make the sum of a link right: in an all_reduce (n+1)/n out of 2(n-1)/n, in a
// half of it 1 out of (n-1)/n. What it does not show: a half of an all_reduce alone loads one
// direction of the links more than the other.
#include <numeric>
#include <vector>

#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

// All others, the nearest first.
std::vector<std::uint32_t> ahead(std::uint32_t n) {
    std::vector<std::uint32_t> peers(n - 1);
    std::iota(peers.begin(), peers.end(), 1U);
    return peers;
}
std::vector<std::uint32_t> behind(std::uint32_t n) {
    const std::vector<std::uint32_t> peers = ahead(n);
    return {peers.rbegin(), peers.rend()};
}

void reduce(std::uint32_t n, ProgramBuilder& builder) {
    for (std::uint32_t k = 1; k < n; ++k) {
        builder.send(k, {k});
    }
    builder.receive_reduced(behind(n), {0});
}

void multicast(std::uint32_t n, ProgramBuilder& builder) {
    builder.multicast(ahead(n), {0});
    for (std::uint32_t k = 1; k < n; ++k) {
        builder.receive(n - k, {n - k}, false);
    }
}

void emit(const ProgramShape& shape, std::uint32_t, ProgramBuilder& builder) {
    builder.send_concurrently();
    if (shape.kind != CollectiveKind::AllGather) {
        reduce(shape.members, builder);
    }
    if (shape.kind != CollectiveKind::ReduceScatter) {
        multicast(shape.members, builder);
    }
}

WireShare share(const ProgramShape& shape) {
    const std::uint64_t n = shape.members;
    return shape.kind == CollectiveKind::AllReduce ? WireShare{n + 1, 2 * (n - 1)}
                                                   : WireShare{n, n - 1};
}

}  // namespace

extern const CollectiveAlgorithm kNvlsAlgorithm;
const CollectiveAlgorithm kNvlsAlgorithm = {
    .name = "nvls",
    .summary = "the switch reduces and multicasts; needs system.in_switch_reduction",
    .kinds = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather},
    .emit = emit,
    .in_switch = share,
};

}  // namespace astra
