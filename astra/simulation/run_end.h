// What is said of a run that is over.
#pragma once

#include <string>

#include "astra/simulation/layers.h"
#include "astra/simulation/simulation.h"

namespace astra {

// Why ranks have not finished; "" if they have. Lets the time up to a limit go by.
std::string why_unfinished(Layers& layers, const RunLimits& limits);

// Throws SimulationError: why, and what is stuck.
[[noreturn]] void refuse_unfinished(const Layers& layers, const std::string& why);

// Adds what is suspicious about a finished run to the warnings of the layers.
void warn_of_the_run(Layers& layers);

}  // namespace astra
