// The pipelined chain: members in a row from the root on, messages that follow each other; k is the
// number behind the name.
//   broadcast  from the root: k slices of S/k, one after the other, to the next member
//   reduce     to the root from the last member
//   scatter    from the root the block of the last member first, in k slices (1) of S/kn
//   gather     to the root the sender's block first
// n-1 + k-1 steps of S/k, so S·(1 + (n-2)/k) where bandwidth counts; of gather and scatter n-1
// steps of S/n.
#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

constexpr std::uint32_t kDefaultSlices = 16;

bool is_by_block(CollectiveKind kind) {
    return kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter;
}

std::uint32_t slices(const ProgramShape& shape) {
    if (shape.parameter == 0) {
        return is_by_block(shape.kind) ? 1 : kDefaultSlices;
    }
    return shape.parameter;
}

std::string limit(const ProgramShape& shape) {
    const std::uint64_t n = shape.members;
    const std::uint64_t sends = (is_by_block(shape.kind) ? n * (n - 1) / 2 : n) * slices(shape);
    return slices(shape) > 1 ? refuse_too_long_by_number(sends) : refuse_too_long(sends);
}

class Link {
  public:
    Link(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder)
        : members_(shape.members),
          root_(shape.root),
          slices_(slices(shape)),
          relative_((member + members_ - root_) % members_),
          outer_((member + 1) % members_),
          inner_((member + members_ - 1) % members_),
          builder_(builder) {}

    void broadcast() {
        for (std::uint32_t slice = 0; slice < slices_; ++slice) {
            pass(slice, inner_, relative_ > 0, outer_, !is_last(), false);
        }
    }
    void reduce() {
        for (std::uint32_t slice = 0; slice < slices_; ++slice) {
            pass(slice, outer_, !is_last(), inner_, relative_ > 0, true);
        }
    }
    // What is for members further out comes first, the farthest before all.
    void scatter() {
        for (std::uint32_t of = members_ - 1; of > relative_; --of) {
            pass_block(of, inner_, relative_ > 0, outer_, true);
        }
        if (relative_ > 0) {
            pass_block(relative_, inner_, true, outer_, false);
        }
    }
    void gather() {
        if (relative_ > 0) {
            pass_block(relative_, outer_, false, inner_, true);
        }
        for (std::uint32_t of = relative_ + 1; of < members_; ++of) {
            pass_block(of, outer_, true, inner_, relative_ > 0);
        }
    }

  private:
    bool is_last() const { return relative_ + 1 == members_; }
    void pass(std::uint32_t block,
              std::uint32_t from,
              bool receives,
              std::uint32_t to,
              bool sends,
              bool reduces) {
        if (receives) {
            builder_.receive(from, {block}, reduces);
        }
        if (sends) {
            builder_.send(to, {block});
        }
    }
    void pass_block(
        std::uint32_t relative, std::uint32_t from, bool receives, std::uint32_t to, bool sends) {
        const std::uint32_t owner = (relative + root_) % members_;
        for (std::uint32_t slice = 0; slice < slices_; ++slice) {
            pass(owner * slices_ + slice, from, receives, to, sends, false);
        }
    }

    std::uint32_t members_;
    std::uint32_t root_;
    std::uint32_t slices_;
    std::uint32_t relative_;  // from the root on
    std::uint32_t outer_;     // the next member away from the root
    std::uint32_t inner_;     // the next one towards it
    ProgramBuilder& builder_;
};

void emit(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder) {
    Link link(shape, member, builder);
    switch (shape.kind) {
        case CollectiveKind::Broadcast:
            link.broadcast();
            break;
        case CollectiveKind::Reduce:
            link.reduce();
            break;
        case CollectiveKind::Scatter:
            link.scatter();
            break;
        default:
            link.gather();
            break;
    }
}

}  // namespace

extern const CollectiveAlgorithm kChainAlgorithm;
const CollectiveAlgorithm kChainAlgorithm = {
    .name = "chain",
    .summary = "from member to member in as many slices as the number behind the name says",
    .kinds = {CollectiveKind::Broadcast,
              CollectiveKind::Reduce,
              CollectiveKind::Gather,
              CollectiveKind::Scatter},
    .takes_parameter = true,
    .limit = limit,
    .relation = [](const ProgramShape&) { return Relation::Absolute; },
    .blocks =
        [](const ProgramShape& shape) {
            return is_by_block(shape.kind) ? shape.members * slices(shape) : slices(shape);
        },
    .emit = emit,
    .trials =
        [](const ProgramShape&) {
            return std::vector<std::string>{"chain1", "chain4", "chain16", "chain64", "chain256"};
        },
};

}  // namespace astra
