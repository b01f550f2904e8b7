// NCCL's double binary tree: two trees at once, half of the data up and down each, pipelined in k
// slices (the number behind the name). Leaves of one tree are inner members of the other, so that a
// member sends and receives at most 2S in all; S/2k a message.
//
// In the first tree member 0 is the root, above an in-order tree of the others: the member i > 0
// whose lowest one in binary is b has the children i - b/2 and i + b/2 (beyond the last member: the
// next one down). The second tree is the first one mirrored, or for an odd n shifted by one member.
// Sanders, Speck, Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan"
// (2009); Jeaugey, "Massively scale your deep learning training with NCCL 2.4" (2019).
//
// A member sends to its parent and to each of its children in a tree beside each other, each in the
// order of the slices.
//
// The schedule: a member at height h above its leaves sends slice s up in round s + h; the root, at
// height H, sends it down in round s + H, and a member at depth d in round s + H + d. What is
// received in a round was sent in an earlier one, so that no order within a round can deadlock.
#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

constexpr std::uint32_t kDefaultSlices = 8;
constexpr std::uint32_t kTrees = 2;

std::uint32_t slices(const ProgramShape& shape) {
    return shape.parameter == 0 ? kDefaultSlices : shape.parameter;
}

// One tree; nodes are members of the first tree.
class BinaryTree {
  public:
    explicit BinaryTree(std::uint32_t size) : size_(size) {}

    // At most two.
    std::vector<std::uint32_t> children(std::uint32_t node) const {
        if (node == 0) {
            return {std::bit_floor(size_ - 1)};
        }
        const std::uint32_t lowest = node & (~node + 1);
        std::vector<std::uint32_t> found;
        if (lowest > 1) {
            found.push_back(node - lowest / 2);
        }
        for (std::uint32_t step = lowest / 2; step > 0; step /= 2) {
            if (node + step < size_) {
                found.push_back(node + step);
                break;
            }
        }
        return found;
    }
    // Not of the root.
    std::uint32_t parent(std::uint32_t node) const {
        const std::uint32_t lowest = node & (~node + 1);
        // Up to the right, unless that is beyond the end: then past all that is there, to the left.
        const std::uint32_t right = (node ^ lowest) | (2 * lowest);
        return right < size_ ? right : node ^ lowest;
    }
    // Nothing on the right is higher than the complete tree on the left.
    std::uint32_t height(std::uint32_t node) const {
        return static_cast<std::uint32_t>(node == 0 ? std::bit_width(size_ - 1)
                                                    : std::countr_zero(node));
    }
    std::uint32_t depth(std::uint32_t node) const {
        std::uint32_t steps = 0;
        for (; node != 0; node = parent(node)) {
            ++steps;
        }
        return steps;
    }

  private:
    std::uint32_t size_;
};

// What a member does in one of the trees.
struct Role {
    bool is_root = false;
    std::uint32_t parent = 0;
    std::vector<std::uint32_t> children;
    std::uint32_t first_block = 0;
    std::uint32_t up_round = 0;    // of slice 0
    std::uint32_t down_round = 0;  // of slice 0
};

Role role_of(const ProgramShape& shape, std::uint32_t tree, std::uint32_t member) {
    const std::uint32_t n = shape.members;
    const auto swap = [&](std::uint32_t at, bool to_member) {
        if (tree == 0) {
            return at;
        }
        return n % 2 == 0 ? n - 1 - at : (at + (to_member ? 1 : n - 1)) % n;
    };
    const BinaryTree shape_of_tree(n);
    const std::uint32_t node = swap(member, false);
    Role role;
    role.is_root = node == 0;
    role.parent = role.is_root ? 0 : swap(shape_of_tree.parent(node), true);
    for (const std::uint32_t child : shape_of_tree.children(node)) {
        role.children.push_back(swap(child, true));
    }
    role.first_block = tree * slices(shape);
    role.up_round = shape_of_tree.height(node);
    role.down_round = shape_of_tree.height(0) + shape_of_tree.depth(node);
    return role;
}

class RoundEmitter {
  public:
    RoundEmitter(std::uint32_t slices, ProgramBuilder& builder)
        : slices_(slices), builder_(builder) {}

    // From here on in that tree: a channel to the parent, and one to each child.
    void enter(std::uint32_t tree) { first_channel_ = tree * kChannels; }

    void up(const Role& role, std::uint32_t round) {
        const std::uint32_t slice = round - role.up_round;
        if (!is_slice(slice)) {
            return;
        }
        for (const std::uint32_t child : role.children) {
            builder_.receive(child, {role.first_block + slice}, true);
        }
        if (!role.is_root) {
            builder_.use_channel(first_channel_);
            builder_.send(role.parent, {role.first_block + slice});
        }
    }
    void down(const Role& role, std::uint32_t round) {
        const std::uint32_t slice = round - role.down_round;
        if (!is_slice(slice)) {
            return;
        }
        if (!role.is_root) {
            builder_.receive(role.parent, {role.first_block + slice}, false);
        }
        for (std::uint32_t i = 0; i < role.children.size(); ++i) {
            builder_.use_channel(first_channel_ + 1 + i);
            builder_.send(role.children[i], {role.first_block + slice});
        }
    }

  private:
    static constexpr std::uint32_t kChannels = 3;  // of a member in a tree

    // A round before the first one has wrapped round to a large number.
    bool is_slice(std::uint32_t number) const { return number < slices_; }

    std::uint32_t slices_;
    ProgramBuilder& builder_;
    std::uint32_t first_channel_ = 0;
};

void emit(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder) {
    const std::array<Role, kTrees> roles = {role_of(shape, 0, member), role_of(shape, 1, member)};
    const std::uint32_t rounds = slices(shape) + std::max(roles[0].down_round, roles[1].down_round);
    RoundEmitter emitter(slices(shape), builder);
    for (std::uint32_t round = 0; round < rounds; ++round) {
        for (std::uint32_t tree = 0; tree < kTrees; ++tree) {
            emitter.enter(tree);
            emitter.up(roles[tree], round);
        }
        for (std::uint32_t tree = 0; tree < kTrees; ++tree) {
            emitter.enter(tree);
            emitter.down(roles[tree], round);
        }
    }
}

// Messages go up and down two trees.
std::string limit(const ProgramShape& shape) {
    return refuse_too_long_by_number(std::uint64_t{4} * shape.members * slices(shape));
}

}  // namespace

extern const CollectiveAlgorithm kNcclTreeAlgorithm;
const CollectiveAlgorithm kNcclTreeAlgorithm = {
    .name = "ncclTree",
    .summary =
        "two binary trees at once, half of the data each, in as many slices as the number "
        "behind the name says",
    .kinds = {CollectiveKind::AllReduce},
    .takes_parameter = true,
    .limit = limit,
    .relation = [](const ProgramShape&) { return Relation::Absolute; },
    .blocks = [](const ProgramShape& shape) { return kTrees * slices(shape); },
    .emit = emit,
    .trials =
        [](const ProgramShape&) {
            return std::vector<std::string>{"ncclTree1", "ncclTree4", "ncclTree16", "ncclTree64"};
        },
};

}  // namespace astra
