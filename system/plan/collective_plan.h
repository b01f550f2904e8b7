// How one kind of collective runs over one group: the phases that a chunk goes through, each a
// program over the ranks of the group that differ in one digit alone. A chunk visits the digits in
// an order of its own:
//
//   reduce_scatter(_block)  in that order
//   all_gather              in the reverse of it
//   all_to_all              in that order, the whole buffer in each
//   all_reduce, baseline    in that order, the whole buffer in each
//   all_reduce, local       reduce_scatter up to the last digit, all_reduce there, all_gather back
//   all_to_all by pairs     flat, the digits as levels of one program
//   barrier, rooted kinds   flat
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "astra/core/error.h"
#include "astra/core/types.h"
#include "astra/core/warnings.h"
#include "system/plan/phase_load.h"
#include "system/plan/plan_config.h"
#include "system/plan/process_group.h"
#include "system/run/message_costs.h"
#include "system/tuning/algorithm_choice.h"
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
    std::uint32_t digit = 0;  // index into CollectivePlan::digits
    CollectiveKind kind{};
    AlgorithmChoice choice;
    MessageCosts costs;
    bool returning = false;       // the way down of an all_reduce
    bool whole = false;           // the whole chunk, not the part that digits before it left
    std::uint32_t first_run = 0;  // runs of a chunk are numbered phase by phase
};

// Indices of a plan's digits, each once.
using DigitOrder = std::vector<std::uint32_t>;

// What the chunks that visit the digits in one order go through.
struct Itinerary {
    DigitOrder order;
    std::vector<PhasePlan> phases;
    std::uint32_t runs = 0;  // of a chunk, in all phases
};

struct CollectivePlan {
    PlanKey key;
    const ProcessGroup* group = nullptr;
    std::vector<ProcessGroup::Digit> digits;  // those that take part
    std::vector<AlgorithmChoice> choices;     // of each digit, as configured
    // By digit and kind, where the size decides.
    std::map<std::pair<std::uint32_t, CollectiveKind>, PhaseChoice> chosen;
    bool returns = false;       // an all_reduce that scatters on the way up and gathers down
    std::uint32_t members = 1;  // product of the digits: who exchanges data
    std::string algorithm;      // for people: "ring+direct"
    const MeasuredTime* measured = nullptr;
    // By digit and kind, of those that were asked for.
    std::map<std::pair<std::uint32_t, CollectiveKind>, PhaseLoad> loads;

    bool has_phases() const { return !digits.empty() && measured == nullptr; }
    // The digits as they are: the first dimension first.
    DigitOrder ascending() const;
    // Made at the first call, shared by all chunks of that order, and there as long as the plan.
    // Requires phases.
    const Itinerary& itinerary(const DigitOrder& order);
    const ProcessGroup::Digit& digit_of(const PhasePlan& phase) const {
        return digits[phase.digit];
    }
    // The ranks of a group within a phase, by member.
    std::vector<std::uint32_t> ranks(const PhasePlan& phase, std::uint32_t subgroup) const;
    // Bytes that a phase works on at `position`, of a chunk whose whole buffer is `chunk`.
    Bytes phase_bytes(const Itinerary& itinerary,
                      std::uint32_t phase,
                      std::uint32_t position,
                      Bytes chunk) const;

  private:
    std::map<DigitOrder, Itinerary> itineraries_;
};

// The size of a collective as a rank asks for it.
struct AskedSize {
    Bytes bytes;
    bool are_a_shard = false;  // of each rank, not the whole
    bool by_pair = false;      // of the rank that came first, in an all_to_all with sizes of pairs

    // Into how many chunks of `most` a collective of so many members is cut: none is so small that
    // a rank's part of it would be empty.
    std::uint64_t chunks(std::uint32_t members, std::uint64_t most) const;
    Bytes buffer(std::uint32_t members) const {
        return {saturating_multiply(bytes.count, are_a_shard ? members : 1)};
    }
};

// What the algorithms know a kind as: the blocks of a reduce_scatter are equal anyway.
CollectiveKind kind_of_phases(CollectiveKind kind);

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
