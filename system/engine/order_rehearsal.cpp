#include "system/engine/order_rehearsal.h"

#include "system/engine/collective_timer.h"

namespace astra {

OrderRehearsal::OrderRehearsal(Routing& routing,
                               const BackendInfo& backend,
                               const ConfigView& network,
                               const EngineConfig& config,
                               const DimensionOrder* only)
    : routing_(routing), backend_(backend), keys_(network), config_(config), only_(only) {}

OrderRehearsal::~OrderRehearsal() = default;

bool OrderRehearsal::other_is_no_slower(const CollectiveInstance& instance) {
    if (configured_ == nullptr) {
        const DimensionOrder& order = *config_.plan.dimension_order;
        configured_ = std::make_unique<CollectiveTimer>(routing_, backend_, keys_, config_, order);
        instead_ =
            std::make_unique<CollectiveTimer>(routing_, backend_, keys_, config_, *order.instead);
    }
    const ProcessGroup& members = instance.group();
    const auto [group, is_new] = groups_.try_emplace(members.id(), GroupId{});
    if (is_new) {
        configured_->add_group(members.name(), members.ranks());
        group->second = instead_->add_group(members.name(), members.ranks());
    }
    return instead_->time(group->second, instance.request) <=
           configured_->time(group->second, instance.request);
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
    if (is_new && other_is_no_slower(instance)) {
        chosen->second = order.instead;
    }
    return *chosen->second;
}

}  // namespace astra
