// Measures what collectives of a communicator cost on the network that is simulated: on a copy of
// it, idle, before the run.
#pragma once

#include <functional>
#include <memory>

#include "astra/core/event_queue.h"
#include "astra/core/warnings.h"
#include "network/backend/backend.h"
#include "network/routing/routing.h"
#include "system/engine/collective_engine.h"
#include "system/transfer/cost.h"

namespace astra {

// A network with a clock of its own.
class PrivateNetwork {
  public:
    PrivateNetwork() = default;
    PrivateNetwork(const PrivateNetwork&) = delete;
    PrivateNetwork& operator=(const PrivateNetwork&) = delete;
    virtual ~PrivateNetwork() = default;
    virtual EventQueue& queue() = 0;
    virtual Routing& routing() = 0;
    virtual NetworkBackend& backend() = 0;
    virtual const BackendInfo& info() const = 0;
    virtual const ConfigView& keys() const = 0;  // the section `network`
};

class CostProbe {
  public:
    using Maker = std::function<std::unique_ptr<PrivateNetwork>()>;

    // The configuration outlives the probe. `make` is called when there is something to measure.
    CostProbe(Maker make, const SystemConfig& config);

    // Of collectives like this one among these ranks, by two sizes up to `largest`: the time from
    // the start until the last rank is done. Costs two such collectives.
    TransferCost measure(const ProcessGroup& group, CollectiveRequest like, Bytes largest);

  private:
    Duration time(GroupId group, const CollectiveRequest& request);
    void finished(std::uint64_t) { end_ = network_->queue().now(); }

    Maker make_;
    const SystemConfig& config_;
    Warnings unheard_;  // the simulation itself says the same
    std::unique_ptr<PrivateNetwork> network_;
    std::unique_ptr<CollectiveEngine> engine_;
    SimTime end_;
};

}  // namespace astra
