#include "system/plan/plan_cache.h"

#include <algorithm>

namespace astra {

CollectivePlan& PlanCache::plan(const ProcessGroup& group,
                                const PlanKey& key,
                                const AskedSize& size) {
    const std::size_t number = index(group.id());
    plans_.resize(std::max(plans_.size(), number + 1));
    const bool sized = plan_depends_on_size(key, config_, tuner_);
    auto& plan = plans_[number][{key, sized ? size.bytes.count : 0}];
    if (!plan) {
        plan = std::make_unique<CollectivePlan>(
            make_plan(group, key, size, config_, routing_, tuner_, warnings_));
    }
    return *plan;
}

}  // namespace astra
