// The bytes of an all_to_all that has a size for each pair, as its ranks bring them along.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "astra/core/types.h"

namespace astra {

// What one rank says, by position in the group; the memory is the trace's.
struct PairSizesOfRank {
    std::span<const std::uint64_t> sends;     // B to each
    std::span<const std::uint64_t> receives;  // B from each; empty = not said
    std::uint64_t node_id = 0;                // for messages
};

class PairSizes {
  public:
    void clear() { ranks_.clear(); }
    bool empty() const { return ranks_.empty(); }
    // A rank comes; `sizes` has as many as the group has `members`.
    void join(std::uint32_t position, std::uint32_t members, const PairSizesOfRank& sizes) {
        ranks_.resize(members);
        ranks_[position] = sizes;
    }
    // Two ranks of which one expects something else than the other sends; `origin` sends.
    struct Contradiction {
        bool found = false;
        std::uint32_t origin = 0;
        std::uint32_t destination = 0;
        Bytes sent;
        Bytes expected;
    };
    // Between `position` and any that has come. Time: that of the members.
    Contradiction contradiction(std::uint32_t position) const;

    std::uint64_t node_id(std::uint32_t position) const { return ranks_[position].node_id; }
    // What `origin`, who has come, sends there.
    Bytes bytes(std::uint32_t origin, std::uint32_t destination) const {
        return {ranks_[origin].sends[destination]};
    }
    // Whether `destination` has said that `origin` sends it nothing, so that it waits for nothing.
    bool expects_nothing(std::uint32_t destination, std::uint32_t origin) const {
        const auto& receives = ranks_[destination].receives;
        return !receives.empty() && receives[origin] == 0;
    }

  private:
    std::vector<PairSizesOfRank> ranks_;  // by position; without sends: not come yet
};

}  // namespace astra
