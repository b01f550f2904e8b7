// How long a collective needs the busiest link of it, where backends do not see to it themselves,
// as messages do not share links or times were measured: what takes less is more than the links can
// carry.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "network/routing/routing.h"
#include "network/topology/rank_rates.h"
#include "system/engine/collective_instance.h"
#include "system/plan/program_cache.h"

namespace astra {

class LinkNeed {
  public:
    // All outlive it. `queues` a dimension; `links_are_shared` by messages that meet on them.
    LinkNeed(Routing& routing, ProgramCache& programs, std::uint32_t queues, bool links_are_shared)
        : routing_(routing),
          programs_(programs),
          queues_(queues),
          links_are_shared_(links_are_shared) {}

    // An instance that ends. Returns how long the links of one of its ranks need, together, where
    // no program tells how they are loaded, or a part of the instance: times that were measured,
    // sizes by pair. Otherwise zero, and how one of its plan and size is cut is remembered.
    Duration remember(const CollectiveInstance& instance);

    // The work of the busiest link for a collective that was remembered, at its rate, over all
    // chunks; worked out once. Only the first subgroup of each phase is looked at, so that it is
    // never too long. Zero where links are shared.
    Duration of(const CollectivePlan& plan, Bytes total) const;

  private:
    struct Remembered {
        CollectiveInstance like;  // without members
        bool is_known = false;
        Duration need;
    };
    Duration need(const CollectiveInstance& like) const;
    Duration need_of_ranks(const CollectiveInstance& instance);

    Routing& routing_;
    ProgramCache& programs_;
    std::uint32_t queues_;
    bool links_are_shared_;
    std::optional<RankRates> rates_;  // made when first needed
    mutable std::map<std::pair<const CollectivePlan*, Bytes>, Remembered> remembered_;
};

}  // namespace astra
