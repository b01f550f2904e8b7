// What `astra run` is to simulate: a study, or ASTRA-sim's own files, and options that override it.
#pragma once

#include "astra/app/options.h"
#include "astra/simulation/study.h"

namespace astra {

// Those of studies, and those of ASTRA-sim.
void declare_study_options(OptionSet& options);
void declare_astra_sim_options(OptionSet& options);

// Throws ConfigError.
Study read_study(const OptionSet& options);

}  // namespace astra
