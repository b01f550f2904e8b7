// How long collectives take alone: an engine in a sandbox of the network that is simulated.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "astra/config/config_view.h"
#include "astra/core/types.h"
#include "astra/core/warnings.h"
#include "network/backend/backend.h"
#include "network/routing/routing.h"
#include "system/engine/collective_engine.h"
#include "system/run/sandbox.h"

namespace astra {

class CollectiveTimer {
  public:
    // All outlive the timer; `network` is the section. The sandbox is made when it is needed.
    CollectiveTimer(const Topology& topology,
                    const BackendInfo& backend,
                    const ConfigView& network,
                    const EngineConfig& config);
    // On a network that shares routes, and with them the links that are down; all collectives take
    // the order of dimensions `only`.
    CollectiveTimer(Routing& routing,
                    const BackendInfo& backend,
                    const ConfigView& network,
                    const EngineConfig& config,
                    const DimensionOrder& only);

    // Groups are those of the timer.
    GroupId add_group(std::string name, std::vector<std::uint32_t> ranks);

    // From the common start of all members until the last one is done. Costs the simulation of it.
    Duration time(GroupId group, const CollectiveRequest& request);

    // Throws the sandbox away, and with it the groups.
    void reset();

  private:
    CollectiveEngine& engine();

    const Topology& topology_;
    Routing* const routing_ = nullptr;  // that is shared
    CollectiveEngine::Options options_;
    const BackendInfo& backend_;
    ConfigView keys_;
    const EngineConfig& config_;
    Warnings unheard_;  // the simulation itself says the same
    std::unique_ptr<Sandbox> sandbox_;
    std::unique_ptr<CollectiveEngine> engine_;  // in the sandbox
    std::vector<std::uint64_t> timed_;          // collectives so far, by group
};

}  // namespace astra
