// What is said of a run that is over.
#pragma once

#include "astra/simulation/layers.h"
#include "astra/simulation/simulation.h"

namespace astra {

// Throws SimulationError if ranks have not finished: why, and what is stuck.
void check_finished(const Layers& layers, const RunLimits& limits);

// Adds what is suspicious about a finished run to the warnings of the layers.
void warn_of_the_run(Layers& layers);

}  // namespace astra
