// What `astra run` records: lists for files, and a timeline.
#pragma once

#include <optional>

#include "astra/app/options.h"
#include "astra/results/timeline/timeline_options.h"
#include "astra/simulation/simulation.h"

namespace astra {

void declare_timeline_options(OptionSet& options);
void declare_record_option(OptionSet& options);

// --record. Throws ConfigError.
Recording read_recording(const OptionSet& options);
// --timeline and its like; nothing without it. Throws ConfigError.
std::optional<TimelineOptions> read_timeline(const OptionSet& options);

}  // namespace astra
