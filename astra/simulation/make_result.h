// The result of a run, out of its layers and observers.
#pragma once

#include "astra/simulation/layers.h"
#include "astra/simulation/observers.h"
#include "astra/simulation/run_result.h"

namespace astra {

// Requires a finished run.
RunResult make_result(const Layers& layers, const Observers& observers);

}  // namespace astra
