// The binomial tree, L = ceil(log2 n) rounds. Members have relative ranks, counted from the root;
// the children of relative rank p are p + 2^k for all 2^k > p, and below p are all that equal p
// modulo the smallest 2^k > p.
//   broadcast   S down every edge, the deepest child first   reduce   S up every edge
//   scatter     down an edge the blocks of all members below it: S/2, S/4, … on the longest path
//   gather      the mirror image                             all_reduce  reduce, then broadcast
// Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH"
// (2005).
#include <bit>
#include <vector>

#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

class Tree {
  public:
    Tree(const ProgramShape& shape, std::uint32_t root, std::uint32_t member)
        : members_(shape.members),
          root_(root),
          by_block_(shape.kind == CollectiveKind::Gather || shape.kind == CollectiveKind::Scatter),
          relative_((member + members_ - root) % members_) {
        for (std::uint64_t step = above(relative_); relative_ + step < members_; step *= 2) {
            children_.push_back(relative_ + static_cast<std::uint32_t>(step));
        }
    }

    void up(bool reduce, ProgramBuilder& builder) const {
        for (std::size_t i = children_.size(); i-- > 0;) {
            builder.receive(member_at(children_[i]), below(children_[i]), reduce);
        }
        if (relative_ != 0) {
            builder.send(parent(), below(relative_));
        }
    }
    void down(ProgramBuilder& builder) const {
        if (relative_ != 0) {
            builder.receive(parent(), below(relative_), false);
        }
        for (const std::uint32_t child : children_) {
            builder.send(member_at(child), below(child));
        }
    }

  private:
    // The smallest power of two above `relative`.
    static std::uint64_t above(std::uint32_t relative) {
        return std::uint64_t{1} << static_cast<unsigned>(std::bit_width(relative));
    }
    std::uint32_t member_at(std::uint32_t relative) const { return (relative + root_) % members_; }
    std::uint32_t parent() const { return member_at(relative_ - std::bit_floor(relative_)); }
    Payload below(std::uint32_t relative) const {
        if (!by_block_) {
            return {};
        }
        const auto stride = static_cast<std::uint32_t>(above(relative));
        return {member_at(relative), stride, (members_ - relative - 1) / stride + 1};
    }

    std::uint32_t members_;
    std::uint32_t root_;
    bool by_block_;
    std::uint32_t relative_;
    std::vector<std::uint32_t> children_;
};

void emit(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder) {
    const bool everywhere = shape.kind == CollectiveKind::AllReduce;
    const Tree tree(shape, everywhere ? 0 : shape.root, member);
    if (everywhere || shape.kind == CollectiveKind::Reduce ||
        shape.kind == CollectiveKind::Gather) {
        tree.up(shape.kind != CollectiveKind::Gather, builder);
    }
    if (everywhere || shape.kind == CollectiveKind::Broadcast ||
        shape.kind == CollectiveKind::Scatter) {
        tree.down(builder);
    }
}

}  // namespace

extern const CollectiveAlgorithm kBinomialAlgorithm;
const CollectiveAlgorithm kBinomialAlgorithm = {
    .name = "binomial",
    .summary = "up or down a binomial tree, or both",
    .kinds = {CollectiveKind::Broadcast,
              CollectiveKind::Reduce,
              CollectiveKind::Gather,
              CollectiveKind::Scatter,
              CollectiveKind::AllReduce},
    .relation = [](const ProgramShape&) { return Relation::Absolute; },
    .blocks =
        [](const ProgramShape& shape) {
            const bool by_block =
                shape.kind == CollectiveKind::Gather || shape.kind == CollectiveKind::Scatter;
            return by_block ? shape.members : 1U;
        },
    .emit = emit,
};

}  // namespace astra
