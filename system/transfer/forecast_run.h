// A training iteration as one rank and one serial network would run it: what a schedule makes of a
// forecast, without simulating ranks or messages.
#pragma once

#include "astra/core/types.h"
#include "system/transfer/cost.h"
#include "system/transfer/forecast.h"
#include "system/transfer/policy.h"

namespace astra {

// From the end of the computation of one iteration to that of the next, once it repeats; after
// kMostForecastIterations the mean of the last three; kMaxPs if the clock does not reach that far.
// Launches take cost.at(their bytes), one after the other. O(iterations · (transfers + launches))
// plus what the schedule costs.
inline constexpr std::uint32_t kMostForecastIterations = 8;
Duration steady_iteration(const GroupForecast& forecast,
                          const TransferCost& cost,
                          bool barrier,
                          TransferSchedule& schedule);

}  // namespace astra
