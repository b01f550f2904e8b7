// Extension of a program: programs within it, one a level (ProgramLevel), and whom their members
// and blocks are in the whole. The members are a grid of the levels' coordinates, of which the
// first varies fastest.
#pragma once

#include <cstdint>
#include <vector>

#include "system/program/program_shape.h"

namespace astra {

class ProgramLevels {
  public:
    ProgramLevels() = default;
    // `members` and `blocks_a_member` of the whole: the blocks for a group's members are one of the
    // level's blocks. `pairs`: an all_to_all, whose payloads count pairs of block and origin.
    ProgramLevels(const std::vector<ProgramLevel>& levels,
                  std::uint32_t members,
                  std::uint32_t blocks_a_member,
                  bool pairs);

    bool empty() const { return levels_.empty(); }

    // Points of the grid, by coordinates added or XORed as each level says.
    std::uint32_t sum(std::uint32_t a, std::uint32_t b) const;
    // The point b of which sum(sum(a, point), b) = a.
    std::uint32_t opposite(std::uint32_t point) const;
    // The member of the whole that a member of a group of the level calls `peer`.
    std::uint32_t peer_of(std::uint32_t level, std::uint32_t member, std::uint32_t peer) const;
    std::uint32_t stride(std::uint32_t level) const { return levels_[level - 1].level.stride; }

    // What follows is for payloads that have a level.

    // How many blocks of the whole, or pairs of block and origin, the payload is of.
    std::uint32_t elements(const Payload& payload) const {
        return payload.count * levels_[payload.level - 1].elements;
    }
    // The block of the whole that is the payload's i-th element, as `member` sees it.
    std::uint32_t block_of(std::uint32_t member, const Payload& payload, std::uint32_t i) const;
    // The origin of the payload's i-th element, in an all_to_all.
    std::uint32_t origin_of(std::uint32_t member, const Payload& payload, std::uint32_t i) const;
    // How many of the payload's elements are among the first `longer` blocks of the whole.
    std::uint64_t longer_blocks(const Payload& payload,
                                std::uint32_t member,
                                std::uint64_t longer) const;

  private:
    // A level, and what follows from it.
    struct View {
        ProgramLevel level;
        std::uint32_t span = 1;      // blocks of the whole that a block is, of each group above
        std::uint32_t above = 1;     // groups that differ in the coordinates above
        std::uint32_t elements = 1;  // that a block, or a pair, stands for
    };
    const View& view_of(const Payload& payload) const { return levels_[payload.level - 1]; }
    static std::uint32_t coordinate(std::uint32_t member, const View& view, std::uint32_t relative);
    std::uint32_t first_block(std::uint32_t member,
                              const View& view,
                              std::uint32_t block,
                              std::uint32_t part) const;

    std::uint32_t blocks_a_member_ = 1;
    bool pairs_ = false;
    std::vector<View> levels_;
};

}  // namespace astra
