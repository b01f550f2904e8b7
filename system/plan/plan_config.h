// What the study says about how collectives run: algorithms, chunks and the order of dimensions.
#pragma once

#include <cstdint>

#include "system/model/measured_times.h"
#include "system/plan/collective_algorithms.h"
#include "system/tuning/tuning_config.h"

namespace astra {

struct DimensionOrder;
extern const DimensionOrder kAscendingDimensionOrder;

struct PlanConfig {
    enum class AllReduceShape : std::uint8_t { Baseline, LocalBandwidthAware };

    std::uint32_t chunks = 1;  // that a collective is cut into, at most
    const DimensionOrder* dimension_order = &kAscendingDimensionOrder;
    AllReduceShape all_reduce_shape = AllReduceShape::LocalBandwidthAware;
    TuningConfig tuning;
    MeasuredTimes measured;
    CollectiveAlgorithms algorithms;

    // Reads system.chunks, .dimension_order and .all_reduce_shape, and what its parts read.
    // `dimensions` of the network, by which lists of algorithms are checked. Throws ConfigError.
    static PlanConfig from_config(const ConfigView& system,
                                  std::uint32_t dimensions,
                                  const ProgramReader& reader);
};

}  // namespace astra
