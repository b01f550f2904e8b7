// Runs the events of the layers, in slices between which somebody may look or stop it.
#pragma once

#include <cstdint>

#include "astra/simulation/layers.h"
#include "astra/simulation/simulation.h"

namespace astra {

class RunLoop {
  public:
    // The layers have been started, and outlive the loop.
    explicit RunLoop(Layers& layers) : layers_(layers) {}

    // Until nothing is left, the workload is done or a limit is reached; false if the watcher,
    // which may be empty, stopped it.
    bool run(const RunLimits& limits, const Simulation::Watcher& watcher);

  private:
    bool run_slice(SimTime until, std::uint64_t events);
    RunProgress progress() const;

    Layers& layers_;
    std::uint64_t moves_ = 0;  // of the workload, when last looked at
};

}  // namespace astra
