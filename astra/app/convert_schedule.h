// `astra convert --schedule=POLICY`: traces in which the schedule of the gradient transfers is
// written out.
#pragma once

#include <string>

#include "astra/app/options.h"

namespace astra {

void declare_schedule_options(OptionSet& options);

// `input` is a study, or the prefix of traces; `output` the prefix of the new ones. Returns the
// exit status.
int convert_schedule(const std::string& input, const std::string& output, const OptionSet& options);

}  // namespace astra
