// How one kind of collective runs over one group: the phases that a chunk goes through, each a
// program over the ranks of the group that differ in one dimension alone. Each chunk has an order
// in which it visits the dimensions:
//
//   reduce_scatter(_block)  in that order
//   all_gather              in the reverse of it
//   all_to_all              in that order, the whole buffer in each
//   all_reduce, baseline    in that order, the whole buffer in each
//   all_reduce, local       reduce_scatter up to the last one, all_reduce there, all_gather back
//   all_to_all by pairs     flat, the dimensions as levels of one program
//   barrier, rooted kinds   flat
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "astra/core/types.h"
#include "system/plan/phase_load.h"
#include "system/plan/process_group.h"
#include "system/run/message_costs.h"
#include "system/tuning/algorithm_choice.h"

namespace astra {

struct MeasuredTime;

// What identifies a plan within a group.
struct PlanKey {
    CollectiveKind kind{};
    std::uint32_t dimensions = ~0U;    // bit k: dimension k takes part
    std::uint32_t root = 0;            // position
    bool by_pair = false;              // an all_to_all with a size for each pair
    std::uint32_t node_algorithm = 0;  // CollectiveAlgorithms::number_of_node; 0: by kind
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    auto operator<=>(const PlanKey&) const = default;
};

// What runs in a phase, after any choice by size.
struct PhaseChoice {
    AlgorithmChoice algorithm;
    MessageCosts costs;
    std::string name;     // for people: "ring", "ring/LL"
    std::string refusal;  // why nothing can run; "" if something can
};

struct PhasePlan {
    std::uint32_t dimension = 0;  // index into CollectivePlan::dimensions
    CollectiveKind kind{};
    AlgorithmChoice choice;
    MessageCosts costs;
    bool returning = false;       // down, in an all_reduce
    bool whole = false;           // the whole chunk, not the part that dimensions before it left
    std::uint32_t first_run = 0;  // runs of a chunk are numbered phase by phase
};

// Indices of a plan's dimensions, each once.
using DimensionSequence = std::vector<std::uint32_t>;

// What the chunks that visit the dimensions in one order go through.
struct ChunkPhases {
    DimensionSequence order;
    std::vector<PhasePlan> plans;
    std::uint32_t runs = 0;  // of a chunk, in all phases
};

struct CollectivePlan {
    PlanKey key;
    const ProcessGroup* group = nullptr;
    std::vector<ProcessGroup::Dimension> dimensions;  // those that take part
    std::vector<AlgorithmChoice> choices;             // of each dimension, as configured
    // What runs by dimension and kind, where the size decides.
    std::map<std::pair<std::uint32_t, CollectiveKind>, PhaseChoice> chosen;
    bool returns = false;       // an all_reduce that scatters up and gathers down
    std::uint32_t members = 1;  // product of the dimensions: who exchanges data
    std::string algorithm;      // for people: "ring+direct"
    const MeasuredTime* measured = nullptr;
    // Loads by dimension and kind, of those that were asked for.
    std::map<std::pair<std::uint32_t, CollectiveKind>, PhaseLoad> loads;

    bool has_phases() const { return !dimensions.empty() && measured == nullptr; }
    // The dimensions as they are: the first dimension first.
    DimensionSequence ascending() const;
    // Made at the first call, shared by all chunks of that order, and there as long as the plan.
    // Requires phases.
    const ChunkPhases& phases(const DimensionSequence& order);
    const ProcessGroup::Dimension& dimension_of(const PhasePlan& phase) const {
        return dimensions[phase.dimension];
    }
    // The ranks of a group within a phase, by member.
    std::vector<std::uint32_t> ranks(const PhasePlan& phase, std::uint32_t subgroup) const;
    // Bytes that a phase works on at `position`, of a chunk whose whole buffer is `chunk`.
    Bytes phase_bytes(const ChunkPhases& phases,
                      std::uint32_t phase,
                      std::uint32_t position,
                      Bytes chunk) const;

  private:
    std::map<DimensionSequence, ChunkPhases> phases_;
};

// What the algorithms know a kind as: the blocks of a reduce_scatter are equal anyway.
CollectiveKind kind_of_phases(CollectiveKind kind);

}  // namespace astra
