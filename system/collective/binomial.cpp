// The binomial tree of a broadcast: in round k the members that have the data, the first 2^k
// counted from the root, send all of it to the member 2^k further. ceil(log2 n) rounds of S.
#include <bit>

#include "system/collective/algorithm.h"

namespace astra {

namespace {

void emit(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder) {
    const std::uint32_t n = shape.members;
    const std::uint32_t place = (member + n - shape.root) % n;
    const auto member_at = [&](std::uint32_t at) { return (at + shape.root) % n; };
    std::uint32_t distance = 1;
    if (place != 0) {
        const std::uint32_t high = std::bit_floor(place);
        builder.receive(member_at(place - high), {}, false);
        distance = 2 * high;
    }
    for (; place + distance < n; distance *= 2) {
        builder.send(member_at(place + distance), {});
    }
}

}  // namespace

extern const CollectiveAlgorithm kBinomialAlgorithm;
const CollectiveAlgorithm kBinomialAlgorithm = {
    "binomial",
    "broadcast along a binomial tree",
    false,
    1,
    [](const ProgramShape& shape) { return refuse_unless(shape, {CollectiveKind::Broadcast}); },
    [](const ProgramShape&) { return Relation::Absolute; },
    [](const ProgramShape&) { return 1U; },
    emit};

}  // namespace astra
