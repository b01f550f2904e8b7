// The result of a run, out of its layers and observers.
#pragma once

#include <string>

#include "astra/simulation/layers.h"
#include "astra/simulation/observers.h"
#include "astra/simulation/run_result.h"

namespace astra {

// `unfinished`: RunResult::unfinished.
RunResult make_result(Layers& layers, const Observers& observers, const std::string& unfinished);

}  // namespace astra
