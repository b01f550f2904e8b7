// The pipelined chain: members in a row from the root on, the data in k slices that follow each
// other; k is the number behind the name.
//   broadcast  from the root: slice after slice of S/k to the next member
//   reduce     to the root from the last member
// n-1 + k-1 steps of S/k, so S·(1 + (n-2)/k) where bandwidth counts.
#include "system/collective/algorithm.h"

namespace astra {

namespace {

constexpr std::uint32_t kDefaultSlices = 16;

std::uint32_t slices(const ProgramShape& shape) {
    return shape.parameter == 0 ? kDefaultSlices : shape.parameter;
}

std::string refusal(const ProgramShape& shape) {
    const std::string other_kind =
        refuse_unless(shape, {CollectiveKind::Broadcast, CollectiveKind::Reduce});
    return other_kind.empty()
               ? refuse_too_long_by_number(std::uint64_t{shape.members} * slices(shape))
               : other_kind;
}

void emit(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder) {
    const std::uint32_t n = shape.members;
    const bool inward = shape.kind == CollectiveKind::Reduce;
    const std::uint32_t from_root = (member + n - shape.root) % n;
    const std::uint32_t place = inward ? n - 1 - from_root : from_root;
    const std::uint32_t next = (member + (inward ? n - 1 : 1)) % n;
    const std::uint32_t previous = (member + (inward ? 1 : n - 1)) % n;
    for (std::uint32_t slice = 0; slice < slices(shape); ++slice) {
        if (place > 0) {
            builder.receive(previous, {slice}, inward);
        }
        if (place + 1 < n) {
            builder.send(next, {slice});
        }
    }
}

}  // namespace

extern const CollectiveAlgorithm kChainAlgorithm;
const CollectiveAlgorithm kChainAlgorithm = {
    "chain",
    "from member to member in as many slices as the number behind the name says",
    true,
    1,
    refusal,
    [](const ProgramShape&) { return Relation::Absolute; },
    slices,
    emit};

}  // namespace astra
