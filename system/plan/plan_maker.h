// Makes the plan of a collective over a group: chooses the dimensions and an algorithm for each,
// and refuses what cannot run.
#pragma once

#include <string>
#include <utility>

#include "astra/core/error.h"
#include "astra/core/warnings.h"
#include "system/plan/asked_size.h"
#include "system/plan/collective_plan.h"
#include "system/plan/plan_config.h"
#include "system/tuning/tuner.h"

namespace astra {

// The algorithm that is configured cannot do what is asked of it.
class AlgorithmRefused final : public InputError {
  public:
    // `where` the algorithm is configured.
    AlgorithmRefused(const std::string& where, std::string reason)
        : InputError(where + ": " + reason), reason_(std::move(reason)) {}
    const std::string& reason() const { return reason_; }

  private:
    std::string reason_;
};

// Whether the plan depends on the size.
bool plan_depends_on_size(const PlanKey& key, const PlanConfig& config, const Tuner& tuner);

// Throws ConfigError when an algorithm cannot do the kind or the size of the group; warns when a
// group over part of several dimensions falls back to a flat ring.
CollectivePlan make_plan(const ProcessGroup& group,
                         const PlanKey& key,
                         const AskedSize& size,
                         const PlanConfig& config,
                         Routing& routing,
                         Tuner& tuner,
                         Warnings& warnings);

}  // namespace astra
