#include "system/engine/collective_timer.h"

#include <utility>

namespace astra {

CollectiveTimer::CollectiveTimer(const Topology& topology,
                                 const BackendInfo& backend,
                                 const ConfigView& network,
                                 const EngineConfig& config)
    : topology_(topology), backend_(backend), keys_(network), config_(config) {}

CollectiveTimer::CollectiveTimer(Routing& routing,
                                 const BackendInfo& backend,
                                 const ConfigView& network,
                                 const EngineConfig& config,
                                 const DimensionOrder& only)
    : topology_(routing.topology()),
      routing_(&routing),
      options_{.only_order = &only},
      backend_(backend),
      keys_(network),
      config_(config) {}

CollectiveEngine& CollectiveTimer::engine() {
    if (engine_ == nullptr) {
        sandbox_ = routing_ == nullptr ? std::make_unique<Sandbox>(topology_, backend_, keys_)
                                       : std::make_unique<Sandbox>(*routing_, backend_, keys_);
        engine_ = std::make_unique<CollectiveEngine>(sandbox_->queue(),
                                                     sandbox_->backend(),
                                                     sandbox_->routing(),
                                                     sandbox_->info(),
                                                     sandbox_->keys(),
                                                     config_,
                                                     unheard_,
                                                     options_);
    }
    return *engine_;
}

GroupId CollectiveTimer::add_group(std::string name, std::vector<std::uint32_t> ranks) {
    timed_.push_back(0);
    return engine().add_group(std::move(name), std::move(ranks));
}

Duration CollectiveTimer::time(GroupId group, const CollectiveRequest& request) {
    CollectiveEngine& runs = engine();
    CollectiveRequest numbered = request;
    numbered.sequence = timed_[index(group)]++;
    return sandbox_->time([&](Callback finished) {
        for (std::uint32_t p = 0; p < runs.group(group).size(); ++p) {
            runs.join(group, p, numbered, finished);
        }
    });
}

void CollectiveTimer::reset() {
    engine_.reset();
    sandbox_.reset();
    timed_.clear();
}

}  // namespace astra
