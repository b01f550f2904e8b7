// The plans of groups, each made when it is first asked for.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "system/plan/plan_maker.h"

namespace astra {

class PlanCache {
  public:
    // All outlive the cache.
    PlanCache(const PlanConfig& config, Routing& routing, Tuner& tuner, Warnings& warnings)
        : config_(config), routing_(routing), tuner_(tuner), warnings_(warnings) {}

    // The plan lives as long as the cache. Throws what make_plan() does.
    CollectivePlan& plan(const ProcessGroup& group, const PlanKey& key, const AskedSize& size);

  private:
    // Plans by key and, where the choice depends on it, size.
    using PlansOfGroup =
        std::map<std::pair<PlanKey, std::uint64_t>, std::unique_ptr<CollectivePlan>>;

    const PlanConfig& config_;
    Routing& routing_;
    Tuner& tuner_;
    Warnings& warnings_;
    std::vector<PlansOfGroup> plans_;  // by group
};

}  // namespace astra
