// Which collective a rank comes to: that of its group with the number of its request. Knows who has
// come to what, and nothing of how collectives run.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "astra/core/types.h"
#include "system/engine/collective_instance.h"
#include "system/plan/process_group.h"

namespace astra {

class CollectiveMatching {
  public:
    // Groups are numbered in the order in which they are added.
    void add_group() { groups_.emplace_back(); }

    struct Arrival {
        CollectiveInstance& instance;
        bool is_first = false;  // of the members: the instance has no plan and no chunks yet
    };
    // The rank at `position` of the group comes to a collective, once. Throws InputError when it
    // asks for another kind or size than those that came before it.
    Arrival come(const ProcessGroup& group,
                 std::uint32_t position,
                 const CollectiveRequest& request,
                 SimTime now);

    // That has not been closed.
    CollectiveInstance& instance(std::uint32_t number) { return instances_[number]; }
    // Everybody has left it: the instance may become another collective.
    void close(const CollectiveInstance& instance);

    // The collectives of a group that somebody has come to and that have not been closed, by
    // number.
    std::vector<const CollectiveInstance*> open(GroupId group) const;
    std::uint32_t groups() const { return static_cast<std::uint32_t>(groups_.size()); }

  private:
    // Instead of an instance that has ended before an older one.
    static constexpr std::uint32_t kClosed = 0xffffffffU;
    // Instead of one that nobody has come to.
    static constexpr std::uint32_t kUnopened = 0xfffffffeU;

    struct Group {
        std::deque<std::uint32_t> open;  // instances by sequence, from `first_open` on
        std::uint64_t first_open = 0;
    };

    CollectiveInstance& open_instance(const ProcessGroup& group,
                                      std::uint32_t position,
                                      const CollectiveRequest& request,
                                      SimTime now);

    std::vector<Group> groups_;
    std::deque<CollectiveInstance> instances_;  // a pool: addresses must stay
    std::vector<std::uint32_t> free_instances_;
    std::uint64_t created_ = 0;
};

}  // namespace astra
