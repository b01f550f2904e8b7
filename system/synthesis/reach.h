// What faster links will bring anyway, so that slow ones carry something else.
//
// Edges fall into levels by the time that a block takes over their path: level 0 is the fastest,
// and all edges of a level take at most half as long again as its first. The domains of a level are
// the sets of members that reach each other over faster levels alone. A block that a member of the
// domain has, or is getting, comes to the others without an edge of this level.
#pragma once

#include <cstdint>
#include <vector>

#include "system/synthesis/group_graph.h"

namespace astra {

class Reach {
  public:
    // `edge_ps`: how long a block is on its path over each edge. `blocks` of the whole group.
    Reach(const GroupGraph& graph, const std::vector<std::uint64_t>& edge_ps, std::uint32_t blocks);

    std::uint32_t levels() const { return static_cast<std::uint32_t>(domain_.size()); }
    std::uint32_t level(std::uint32_t edge) const { return level_[edge]; }
    // Domains of a level above 0 are numbered from 0, without gaps.
    std::uint32_t domain(std::uint32_t member, std::uint32_t level) const {
        return domain_[level][member];
    }
    // `member` has the block, or is getting it. Time: the levels.
    void claim(std::uint32_t member, std::uint32_t block);
    // Bits of the blocks that the domain of `member` has or is getting; for a level above 0.
    const std::uint64_t* claimed(std::uint32_t member, std::uint32_t level) const {
        return claimed_[level].data() + std::size_t{domain_[level][member]} * words_;
    }
    // All links together that end at `member` and belong to faster levels.
    Bandwidth faster(std::uint32_t member, std::uint32_t level) const {
        return faster_[level][member];
    }

  private:
    void find_levels(const std::vector<std::uint64_t>& edge_ps);
    void find_domains(const GroupGraph& graph, std::uint32_t level);

    std::uint32_t words_;
    std::vector<std::uint32_t> level_;                 // an edge
    std::vector<std::vector<std::uint32_t>> domain_;   // a level, a member; empty at level 0
    std::vector<std::vector<Bandwidth>> faster_;       // the same
    std::vector<std::vector<std::uint64_t>> claimed_;  // a level: the words of each domain
};

}  // namespace astra
