// Which block an edge carries next: one that the member at its start has and the one at its end
// lacks, rare blocks first.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "system/synthesis/group_graph.h"
#include "system/synthesis/reach.h"
#include "system/synthesis/spread.h"

namespace astra {

class BlockChoice {
  public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    // `edge_ps`: how long a block is on its path over each edge. All but the settings outlive it.
    BlockChoice(const GroupGraph& graph,
                const SpreadSettings& settings,
                const std::vector<std::uint64_t>& edge_ps);

    std::uint32_t blocks() const { return blocks_; }
    // Blocks that a member neither has nor is getting.
    std::uint32_t wanted(std::uint32_t member) const { return wanted_[member]; }

    // One of the blocks that one end has and the other lacks; kNone if there is none. The best one
    // began at the sender, as all copies come from it; then one that faster links will not bring.
    // Where those will have brought all others sooner than this edge could, it takes none of them.
    std::uint32_t choose(std::uint32_t edge);
    // The same for a single block that the member at the start has.
    bool wants(std::uint32_t edge, std::uint32_t block) const;

    // The block goes over the edge: its end is getting it.
    void promise(std::uint32_t edge, std::uint32_t block);
    // The member has it, and can send it.
    void arrive(std::uint32_t member, std::uint32_t block) { set(held_, member, block); }

  private:
    bool worth(std::uint32_t edge) const;
    template <typename Words>
    std::uint32_t rarest(const Words& words);
    std::uint64_t next_random();
    void claim(std::uint32_t member, std::uint32_t block);
    static bool is_set(const std::uint64_t* words, std::uint32_t block) {
        return (words[block / 64] >> (block % 64) & 1U) != 0;
    }
    void set(std::vector<std::uint64_t>& sets, std::uint32_t member, std::uint32_t block) const {
        sets[std::size_t{member} * words_ + block / 64] |= std::uint64_t{1} << (block % 64);
    }

    const GroupGraph& graph_;
    std::uint32_t blocks_a_member_;
    Bytes block_;  // its size
    std::uint32_t blocks_;
    std::uint32_t words_;
    std::uint64_t random_;
    const std::vector<std::uint64_t>& edge_ps_;
    Reach reach_;
    std::vector<std::uint64_t> held_;        // by member: the blocks that it can send
    std::vector<std::uint64_t> claimed_;     // and those that it has or is getting
    std::vector<std::uint32_t> holders_;     // of a block, those included that are getting it
    std::vector<std::uint32_t> wanted_;      // by member
    std::vector<std::uint32_t> first_hand_;  // by edge: blocks of its start that are done with
};

}  // namespace astra
