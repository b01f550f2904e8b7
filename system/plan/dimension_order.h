// In which order the chunks of a collective visit the dimensions of its group. To add an order: a
// .cpp in this folder that defines `const DimensionOrder k<Name>DimensionOrder`, and one line in
// builtins.def. Decided once for all ranks, when the first of them comes to the collective.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "astra/core/registry.h"
#include "astra/core/types.h"
#include "system/plan/collective_plan.h"
#include "system/plan/phase_load.h"

namespace astra {

// What a phase costs its dimension.
class PhaseLoads {
  public:
    PhaseLoads() = default;
    PhaseLoads(const PhaseLoads&) = delete;
    PhaseLoads& operator=(const PhaseLoads&) = delete;
    virtual ~PhaseLoads() = default;
    // Over a buffer of `size`. Where the program depends on the size, that of the first size asked
    // for stands for all.
    virtual const PhaseLoad& of(CollectivePlan& plan, const PhasePlan& phase, Bytes size) = 0;
};

struct ChunksToOrder {
    CollectivePlan& plan;  // with phases
    std::uint64_t chunks = 1;
    Bytes chunk;  // the whole buffer of the first one; none is longer
    PhaseLoads& loads;
};

struct DimensionOrder {
    std::string_view name;
    std::string_view summary;
    bool varies;  // whether any dimension may come first or last
    // An order of the plan's dimensions for each chunk: what reduce_scatter visits first to last,
    // and all_gather last to first.
    std::vector<DimensionSequence> (*orders)(const ChunksToOrder& question);
    // Both are rehearsed, and this one is taken where it ends no later (engine/order_rehearsal.h).
    const DimensionOrder* instead = nullptr;
};

const Registry<DimensionOrder>& dimension_orders();

}  // namespace astra
