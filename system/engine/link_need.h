// How long a collective needs the busiest link of it, for backends on which messages do not share
// links: what takes less is more than the links can carry.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "network/routing/routing.h"
#include "system/engine/collective_instance.h"
#include "system/plan/program_cache.h"

namespace astra {

class LinkNeed {
  public:
    // Both outlive it. `queues` a dimension.
    LinkNeed(Routing& routing, ProgramCache& programs, std::uint32_t queues)
        : routing_(routing), programs_(programs), queues_(queues) {}

    // An instance that ends: remembers how one of its plan and size is cut.
    void remember(const CollectiveInstance& instance);

    // The work of the busiest link for a collective that was remembered, at its rate, over all
    // chunks; worked out once. Zero where the program does not tell: sizes by pair, measured
    // times. Only the first subgroup of each phase is looked at,
    // so that it is never too long.
    Duration of(const CollectivePlan& plan, Bytes total) const;

  private:
    struct Remembered {
        CollectiveInstance like;  // without members
        bool is_known = false;
        Duration need;
    };
    Duration need(const CollectiveInstance& like) const;

    Routing& routing_;
    ProgramCache& programs_;
    std::uint32_t queues_;
    mutable std::map<std::pair<const CollectivePlan*, Bytes>, Remembered> remembered_;
};

}  // namespace astra
