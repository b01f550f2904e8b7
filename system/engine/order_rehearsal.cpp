#include "system/engine/order_rehearsal.h"

#include <string>

#include "astra/core/warnings.h"
#include "system/engine/collective_engine.h"
#include "system/run/sandbox.h"

namespace astra {

// A network of its own, with an engine that takes one order for all collectives.
class OrderRehearsal::Stage {
  public:
    Stage(Routing& routing,
          const BackendInfo& backend,
          const ConfigView& network,
          const EngineConfig& config,
          const DimensionOrder& order)
        : sandbox_(routing, backend, network),
          engine_(sandbox_.queue(),
                  sandbox_.backend(),
                  sandbox_.routing(),
                  sandbox_.info(),
                  sandbox_.keys(),
                  config,
                  unheard_,
                  {.only_order = &order}) {}

    Duration time(const CollectiveInstance& instance) {
        const ProcessGroup& members = instance.group();
        const auto added = groups_.try_emplace(members.id(), Group{});
        Group& group = added.first->second;
        if (added.second) {
            group.id = engine_.add_group(members.name(), members.ranks());
        }
        CollectiveRequest request = instance.request;
        request.sequence = group.timed++;
        return sandbox_.time([&](Callback finished) {
            for (std::uint32_t p = 0; p < members.size(); ++p) {
                engine_.join(group.id, p, request, finished);
            }
        });
    }

  private:
    struct Group {
        GroupId id{};
        std::uint64_t timed = 0;
    };

    Warnings unheard_;  // the simulation itself says the same
    Sandbox sandbox_;
    CollectiveEngine engine_;
    std::map<GroupId, Group> groups_;
};

OrderRehearsal::OrderRehearsal(Routing& routing,
                               const BackendInfo& backend,
                               const ConfigView& network,
                               const EngineConfig& config,
                               const DimensionOrder* only)
    : routing_(routing), backend_(backend), keys_(network), config_(config), only_(only) {}

OrderRehearsal::~OrderRehearsal() = default;

OrderRehearsal::Stage& OrderRehearsal::stage(std::unique_ptr<Stage>& made,
                                             const DimensionOrder& order) {
    if (made == nullptr) {
        made = std::make_unique<Stage>(routing_, backend_, keys_, config_, order);
    }
    return *made;
}

const DimensionOrder& OrderRehearsal::order_of(const CollectiveInstance& instance) {
    if (instance.plan->dimensions.size() < 2) {
        return kAscendingDimensionOrder;
    }
    if (only_ != nullptr) {
        return *only_;
    }
    const DimensionOrder& order = *config_.plan.dimension_order;
    if (order.instead == nullptr || instance.request.by_pair()) {
        return order;
    }
    const Key key{instance.plan, instance.request.bytes.count, instance.request.bytes_are_a_shard};
    const auto [chosen, is_new] = chosen_.try_emplace(key, &order);
    if (is_new && stage(instead_, *order.instead).time(instance) <=
                      stage(configured_, order).time(instance)) {
        chosen->second = order.instead;
    }
    return *chosen->second;
}

}  // namespace astra
