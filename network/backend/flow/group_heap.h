// Groups of flows by the time at which their next flow completes: a binary heap that knows where
// each group is.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "astra/core/types.h"

namespace astra {

class GroupHeap {
  public:
    struct Entry {
        std::uint64_t at_ps = 0;
        std::uint32_t group = 0;
    };

    void add_group() { position_.push_back(kAbsent); }

    // Sets the times of the groups; kMaxPs takes a group out. O(k log n) for k of n groups, and
    // never more than O(n + k).
    void update(std::span<const Entry> changes);

    // kMaxPs if no group is in.
    std::uint64_t next_ps() const { return entries_.empty() ? kMaxPs : entries_.front().at_ps; }
    // Requires a group.
    std::uint32_t next_group() const { return entries_.front().group; }

  private:
    static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

    void set(Entry change);
    void put(std::uint32_t position, Entry entry) {
        entries_[position] = entry;
        position_[entry.group] = position;
    }
    void sift_up(std::uint32_t position, Entry entry);
    void sift_down(std::uint32_t position, Entry entry);
    void rebuild(std::span<const Entry> changes);

    std::vector<Entry> entries_;
    std::vector<std::uint32_t> position_;  // by group
};

}  // namespace astra
