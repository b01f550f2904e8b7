// ASTRA-sim's double binary tree: whole chunks are reduced up a binary tree and sent back down;
// chunks alternate between two trees, so that leaves of one are inner members of the other. Each
// tree is a root above an in-order binary tree of the other n-1 members. In tree 0 the root is the
// last member, in tree 1 the first. Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth
// broadcast" (2009). Leaves first: depth about log2(n), S bytes a link in either direction.
#include <vector>

#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

struct Place {
    std::uint32_t parent = 0;
    bool is_root = false;
    std::vector<std::uint32_t> children;
};

// Where `member` is in the in-order tree over [begin, end) whose root hangs below `parent`.
Place find(std::uint32_t member, std::uint32_t begin, std::uint32_t end, std::uint32_t parent) {
    while (true) {
        const std::uint32_t middle = begin + (end - begin) / 2;
        if (member == middle) {
            Place place;
            place.parent = parent;
            if (middle > begin) {
                place.children.push_back(begin + (middle - begin) / 2);
            }
            if (end > middle + 1) {
                place.children.push_back(middle + 1 + (end - middle - 1) / 2);
            }
            return place;
        }
        parent = middle;
        (member < middle ? end : begin) = member < middle ? middle : middle + 1;
    }
}

Place place_of(const ProgramShape& shape, std::uint32_t member) {
    const bool last_is_root = shape.variant == 0;
    const std::uint32_t root = last_is_root ? shape.members - 1 : 0;
    const std::uint32_t begin = last_is_root ? 0 : 1;
    const std::uint32_t end = begin + shape.members - 1;
    if (member == root) {
        Place place;
        place.is_root = true;
        place.children.push_back(begin + (end - begin) / 2);
        return place;
    }
    return find(member, begin, end, root);
}

void emit(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder) {
    const Place place = place_of(shape, member);
    for (const std::uint32_t child : place.children) {
        builder.receive(child, {}, true);
    }
    if (!place.is_root) {
        builder.send(place.parent, {});
        builder.receive(place.parent, {}, false);
    }
    for (const std::uint32_t child : place.children) {
        builder.send(child, {});
    }
}

}  // namespace

extern const CollectiveAlgorithm kDoubleBinaryTreeAlgorithm;
const CollectiveAlgorithm kDoubleBinaryTreeAlgorithm = {
    .name = "doubleBinaryTree",
    .summary = "up and down a binary tree; chunks alternate between two trees",
    .kinds = {CollectiveKind::AllReduce},
    .variants = 2,
    .relation = [](const ProgramShape&) { return Relation::Absolute; },
    .blocks = [](const ProgramShape&) { return 1U; },
    .emit = emit,
};

}  // namespace astra
