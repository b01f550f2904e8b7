// PAT, parallel aggregated trees: every member is the root of a binomial tree for its block, and
// what a member has to send to the same member in all these trees goes in one message.
//
// The member o ahead of a root gets its block over the distances of the ones of o in binary,
// farthest first, so that few blocks travel far (Bruck's messages grow with the distance):
//   all_gather      the steps of distance d = 2^(L-1), …, 2, 1: those at the offsets that are
//                   multiples of 2d send d ahead: L = ceil(log2 n) steps, (n-1)/n · S in all
//   reduce_scatter  the mirror image     all_reduce  both
// patA bounds a message to A blocks. While a step has no more it is as above; beyond that the tree
// is walked depth first, A offsets at a time, so that a member has at most A·L blocks that came and
// are still to be sent on. log2 A + n/A - 1 steps, where both are powers of two.
// After NCCL 2.23's algorithm of that name: Jeaugey, "PAT: a new algorithm for all-gather and
// reduce-scatter operations at scale" (2025): its trees, their order and the joined messages, not
// its buffers and their flow control.
#include <algorithm>
#include <bit>
#include <vector>

#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

// The blocks at the offsets first, first + 2·distance, … go `distance` ahead.
struct Hop {
    std::uint32_t distance = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

class Walk {
  public:
    Walk(std::uint32_t members, std::uint32_t most_blocks)
        : members_(members), most_blocks_(most_blocks == 0 ? members : most_blocks) {
        descend(0, 1, std::bit_ceil(members) / 2);
    }
    const std::vector<Hop>& hops() const { return hops_; }

  private:
    // What is at `count` offsets from `first` on, 2·distance apart, goes to the leaves below.
    void descend(std::uint32_t first, std::uint32_t count, std::uint32_t distance) {
        if (distance == 0) {
            return;
        }
        if (count > most_blocks_) {
            const std::uint32_t front = count / 2;
            descend(first, front, distance);
            descend(first + front * 2 * distance, count - front, distance);
            return;
        }
        // Offsets end at the number of members.
        const std::uint32_t last = members_ - 1;
        const std::uint32_t sent =
            last < first + distance
                ? 0
                : std::min(count, (last - first - distance) / (2 * distance) + 1);
        if (sent > 0) {
            hops_.push_back({distance, first, sent});
        }
        descend(first, count + sent, distance / 2);
    }

    std::uint32_t members_;
    std::uint32_t most_blocks_;
    std::vector<Hop> hops_;
};

// The blocks of a hop as the member that sends them sees them, and as the one that receives them.
// A block at offset o is that of the member o behind; the farthest comes first.
struct Ends {
    Ends(std::uint32_t members, const Hop& hop) {
        const std::uint32_t farthest = hop.first + (hop.count - 1) * 2 * hop.distance;
        const auto behind = [&](std::uint32_t offset) { return (members - offset) % members; };
        near = {behind(farthest), 2 * hop.distance, hop.count};
        far = {behind(farthest + hop.distance), 2 * hop.distance, hop.count};
    }
    Payload near;
    Payload far;
};

void emit(const ProgramShape& shape, std::uint32_t, ProgramBuilder& builder) {
    builder.take_turns(0);
    const std::uint32_t n = shape.members;
    const Walk walk(n, shape.parameter);
    if (shape.kind != CollectiveKind::AllGather) {
        for (auto hop = walk.hops().rbegin(); hop != walk.hops().rend(); ++hop) {
            const Ends ends(n, *hop);
            builder.send(n - hop->distance, ends.far);
            builder.receive(hop->distance, ends.near, true);
        }
    }
    if (shape.kind != CollectiveKind::ReduceScatter) {
        for (const Hop& hop : walk.hops()) {
            const Ends ends(n, hop);
            builder.send(hop.distance, ends.near);
            builder.receive(n - hop.distance, ends.far, false);
        }
    }
}

}  // namespace

extern const CollectiveAlgorithm kPatAlgorithm;
const CollectiveAlgorithm kPatAlgorithm = {
    .name = "pat",
    .summary =
        "a binomial tree from every member, their messages joined, farthest first; a number "
        "behind the name limits the blocks of a message",
    .kinds = {CollectiveKind::AllGather, CollectiveKind::ReduceScatter, CollectiveKind::AllReduce},
    .takes_parameter = true,
    .emit = emit,
};

}  // namespace astra
