// Which of two orders of the dimensions has a collective end earlier: both are run on an idle
// network like the one that is simulated.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>

#include "astra/config/config_view.h"
#include "network/backend/backend.h"
#include "network/routing/routing.h"
#include "system/engine/collective_instance.h"
#include "system/engine/engine_config.h"
#include "system/plan/dimension_order.h"

namespace astra {

class CollectiveTimer;

class OrderRehearsal {
  public:
    // All outlive it; `network` is the section. `only`: the order that is rehearsed here, which is
    // taken for all collectives.
    OrderRehearsal(Routing& routing,
                   const BackendInfo& backend,
                   const ConfigView& network,
                   const EngineConfig& config,
                   const DimensionOrder* only);
    OrderRehearsal(const OrderRehearsal&) = delete;
    OrderRehearsal& operator=(const OrderRehearsal&) = delete;
    ~OrderRehearsal();

    // The configured order, or the one instead of which it was chosen where that is no slower.
    // Requires phases. Costs the simulation of both for each plan and size, once. A collective with
    // sizes by pair is not rehearsed, as its ranks have not said theirs.
    const DimensionOrder& order_of(const CollectiveInstance& instance);

  private:
    struct Key {
        const CollectivePlan* plan = nullptr;
        std::uint64_t bytes = 0;
        bool are_a_shard = false;
        // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
        auto operator<=>(const Key&) const = default;
    };

    // Whether the order instead of which it was chosen has it end no later.
    bool other_is_no_slower(const CollectiveInstance& instance);

    Routing& routing_;
    const BackendInfo& backend_;
    ConfigView keys_;
    const EngineConfig& config_;
    const DimensionOrder* const only_;
    std::unique_ptr<CollectiveTimer> configured_;  // made when they are needed
    std::unique_ptr<CollectiveTimer> instead_;
    std::map<GroupId, GroupId> groups_;  // the number of each in both
    std::map<Key, const DimensionOrder*> chosen_;
};

}  // namespace astra
