// Makes of links the constraints that a solver needs: few, though a sprayed flow crosses many
// links.
//
// A block is a set of links that every flow so far loads equally, all or none: together they are
// one constraint of their number times the least bandwidth. A block that another route cuts is
// split.
//
// A block between the first and the last layer of its flows can be implied. If every flow comes to
// it over one block, and the capacities of all these predecessors add up to no more than its own,
// then it cannot be full before they are, and needs no constraint (the uplinks of a leaf that is
// not oversubscribed). Likewise for successors. What is implied by predecessors may rest on blocks
// that are constraints or implied by predecessors themselves, never on those implied by successors,
// so that no two blocks are left out because of each other.
//
// `generation()` grows when a block is split or becomes a constraint: uses found before are void.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_set>
#include <vector>

#include "network/backend/flow/flow_route.h"

namespace astra {

class LinkBlocks {
  public:
    explicit LinkBlocks(const Topology& topology);

    // The part of a flow that crosses a block, all its links taken together.
    struct Use {
        std::uint32_t block = 0;
        double part = 1;
    };
    // The constraints of a route, after it has been entered into the blocks. May raise
    // generation(); the uses returned are of the new one. Valid until the next call.
    std::span<const Use> enter(const FlowRoute& route);

    std::uint64_t generation() const { return generation_; }
    std::uint32_t blocks() const { return static_cast<std::uint32_t>(blocks_.size()); }
    // bit/s of all links of the block; not below 1.
    double capacity(std::uint32_t block) const { return blocks_[block].capacity; }
    bool is_constraint(std::uint32_t block) const { return !implied(blocks_[block]); }

  private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    // What is known of the blocks before (or behind) one.
    struct Side {
        std::vector<std::uint32_t> blocks;
        double capacity = 0;   // of all of them
        bool several = false;  // a flow comes over more than one block
        bool holds = false;    // the block is implied by this side
    };
    struct Block {
        std::vector<std::uint32_t> links;
        double capacity = 0;
        bool outer = false;       // in the first or last layer of a flow
        bool constraint = false;  // once and for all
        Side before;
        Side behind;
    };
    static bool implied(const Block& block) {
        return !block.outer && !block.constraint && (block.before.holds || block.behind.holds);
    }
    void assign(std::span<const LinkShare> layer);
    void split(std::uint32_t block, std::span<const LinkShare> layer);
    std::uint32_t new_block(std::vector<std::uint32_t> links);
    void collect(std::span<const LinkShare> layer, std::vector<Use>& uses);
    bool note(Side& side, std::uint32_t block, std::span<const Use> neighbours, bool is_before);
    void learn(std::span<const Use> before,
               std::span<const Use> layer,
               std::span<const Use> behind);
    bool could_hold(const Block& block, const Side& side) const;
    bool rests_on(std::uint32_t block, bool is_before) const;
    void find_implied();

    const Topology& topology_;
    std::uint64_t generation_ = 0;
    std::vector<std::uint32_t> block_of_;  // a link
    std::vector<Block> blocks_;
    std::vector<std::uint32_t> inner_;                // blocks that may be implied
    std::unordered_set<std::uint64_t> known_before_;  // pairs of neighbours, for look-up alone
    std::unordered_set<std::uint64_t> known_behind_;
    std::vector<std::uint32_t> counted_;  // a block: links of it in the layer at hand
    std::vector<std::vector<Use>> layers_;
    std::vector<Use> uses_;
};

}  // namespace astra
