// ASTRA-sim's double binary tree: whole chunks are reduced up a binary tree and sent back down;
// chunks alternate between two trees, so that leaves of one are inner members of the other. Each
// tree is a root above an in-order binary tree of the other n-1 members. In tree 0 the root is the
// last member, in tree 1 the first. Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth
// broadcast" (2009). A member sends to its children side by side. Leaves first: depth about
// log2(n), S bytes a link in either direction.
#include <vector>

#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

struct Node {
    std::uint32_t parent = 0;
    bool is_root = false;
    std::vector<std::uint32_t> children;
};

// Where `member` is in the in-order tree over [begin, end) whose root hangs below `parent`.
Node find(std::uint32_t member, std::uint32_t begin, std::uint32_t end, std::uint32_t parent) {
    while (true) {
        const std::uint32_t middle = begin + (end - begin) / 2;
        if (member == middle) {
            Node node;
            node.parent = parent;
            if (middle > begin) {
                node.children.push_back(begin + (middle - begin) / 2);
            }
            if (end > middle + 1) {
                node.children.push_back(middle + 1 + (end - middle - 1) / 2);
            }
            return node;
        }
        parent = middle;
        (member < middle ? end : begin) = member < middle ? middle : middle + 1;
    }
}

Node node_of(const ProgramShape& shape, std::uint32_t member) {
    const bool last_is_root = shape.variant == 0;
    const std::uint32_t root = last_is_root ? shape.members - 1 : 0;
    const std::uint32_t begin = last_is_root ? 0 : 1;
    const std::uint32_t end = begin + shape.members - 1;
    if (member == root) {
        Node node;
        node.is_root = true;
        node.children.push_back(begin + (end - begin) / 2);
        return node;
    }
    return find(member, begin, end, root);
}

void emit(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder) {
    const Node node = node_of(shape, member);
    for (const std::uint32_t child : node.children) {
        builder.receive(child, {}, true);
    }
    if (!node.is_root) {
        builder.send(node.parent, {});
        builder.receive(node.parent, {}, false);
    }
    builder.send_concurrently();
    for (const std::uint32_t child : node.children) {
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
