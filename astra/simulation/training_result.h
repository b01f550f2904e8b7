// What scheduling its transfers made of a training job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "astra/simulation/run_result.h"

namespace astra {

// Metrics over an iteration in steady state, of this line of work: Hashemi, Abdu Jyothi, Campbell,
// "TicTac: accelerating distributed deep learning with communication scheduling" (2019). Requires
// an iteration. `job` counts the jobs that replay traces.
TrainingResult training_result(std::uint32_t job,
                               std::string name,
                               std::vector<IterationTimes> iterations,
                               const std::vector<CommunicatorRecord>& communicators,
                               const std::vector<TransferRecord>& transfers);

// From the end of an iteration to the end of the next: of the last ones that repeat, with a period
// of one or more; or of the last one; or, of a single iteration, its length. Of four iterations and
// more the last one, which none follows, does not count.
Duration steady_length(const std::vector<IterationTimes>& iterations);

// The one that stands for all: the last that has another one after it to compete with.
std::uint32_t typical_iteration(const std::vector<IterationTimes>& iterations);

}  // namespace astra
