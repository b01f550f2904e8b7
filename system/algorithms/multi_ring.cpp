// Rings side by side over one group: ring r goes from member i to i + s, for a stride s that has no
// divisor in common with n, and carries its share of the data. The strides are 1, n-1, then the
// next greater one and its complement, and so on: no two rings use the same directed edge, and two
// rings are the two directions round.
//   all_reduce, k rings          2(n-1) steps of k messages of S/(k·n): the next two in turn
//   reduce_scatter, all_gather   n-1 steps of the same
// Steps go in lockstep: a member waits for the messages of all its rings.
#include <algorithm>
#include <numeric>
#include <vector>

#include "system/algorithms/algorithm.h"
#include "system/algorithms/rings.h"

namespace astra {

namespace {

constexpr std::uint32_t kMostRings = 64;
constexpr std::uint32_t kDefaultRings = 8;

// At most `most` of them.
std::vector<std::uint32_t> strides(std::uint32_t members, std::uint32_t most) {
    std::vector<std::uint32_t> found;
    for (std::uint32_t s = 1; 2 * s <= members && found.size() < most; ++s) {
        if (std::gcd(s, members) != 1) {
            continue;
        }
        found.push_back(s);
        if (members - s != s && found.size() < most) {
            found.push_back(members - s);
        }
    }
    return found;
}

std::vector<std::uint32_t> strides(const ProgramShape& shape) {
    const std::uint32_t wanted = shape.parameter == 0 ? kDefaultRings : shape.parameter;
    return strides(shape.members, std::min(wanted, kMostRings));
}

std::string limit(const ProgramShape& shape) {
    return shape.parameter > kMostRings
               ? "at most 64 rings are possible"
               : refuse_too_long_by_number(std::uint64_t{2} * shape.members *
                                           strides(shape).size());
}

void emit(const ProgramShape& shape, std::uint32_t, ProgramBuilder& builder) {
    const std::vector<std::uint32_t> hops = strides(shape);
    const auto count = static_cast<std::uint32_t>(hops.size());
    std::vector<Ring> rings;
    for (std::uint32_t ring = 0; ring < count; ++ring) {
        rings.push_back({shape.members, hops[ring], shape.members, count, ring, 1, 1});
    }
    emit_rings(shape.kind, rings, builder);
}

}  // namespace

extern const CollectiveAlgorithm kMultiRingAlgorithm;
const CollectiveAlgorithm kMultiRingAlgorithm = {
    .name = "multiRing",
    .summary =
        "as many rings at once as the number behind the name says, no two over the same edges",
    .kinds = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather},
    .takes_parameter = true,
    .limit = limit,
    .blocks =
        [](const ProgramShape& shape) {
            return shape.members * static_cast<std::uint32_t>(strides(shape).size());
        },
    .emit = emit,
    .trials =
        [](const ProgramShape&) {
            return std::vector<std::string>{"multiRing2", "multiRing4", "multiRing8"};
        },
};

}  // namespace astra
