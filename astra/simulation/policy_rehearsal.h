// A policy of gradient transfers that is to be no worse than any other: all of them run the study
// before, each on layers of its own that are thrown away.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "astra/core/types.h"
#include "astra/simulation/simulation.h"
#include "astra/simulation/study.h"

namespace astra {

struct RehearsedPolicy {
    std::string_view policy;  // that has the run end first; "": the configured one
    Duration time;
    Duration configured;  // the time of the policy that is configured

    bool is_another() const { return time < configured; }
    // For people; "" if it is the configured one.
    std::string describe() const;
};

// Costs a run for each policy; one that takes longer than the best so far is given up. Of more than
// kMostRehearsed iterations only so many are run, as long as the study has no jobs. Nothing if the
// watcher stopped it. Throws what a simulation of the study with its own policy throws.
inline constexpr unsigned kMostRehearsed = 8;
std::optional<RehearsedPolicy> rehearse_policies(const Study& study,
                                                 const RunLimits& limits,
                                                 const Simulation::Watcher& watcher);

}  // namespace astra
