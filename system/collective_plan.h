// How one kind of collective runs over one group: the phases that every chunk goes through, each a
// program over the ranks of the group that differ in one digit alone.
//
//   all_gather              digits descending
//   reduce_scatter(_block)  digits ascending
//   all_to_all              digits ascending, the whole buffer in each
//   all_reduce, baseline    digits ascending, the whole buffer in each
//   all_reduce, local       reduce_scatter up to the last digit, all_reduce there, all_gather back
//   barrier, rooted kinds   flat
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "astra/core/error.h"
#include "astra/core/types.h"
#include "astra/core/warnings.h"
#include "system/collective/algorithm.h"
#include "system/process_group.h"
#include "system/system_config.h"

namespace astra {

// The algorithm that is configured cannot do what is asked of it.
class AlgorithmRefused final : public InputError {
    using InputError::InputError;
};

// What identifies a plan within a group.
struct PlanKey {
    CollectiveKind kind{};
    std::uint32_t dimensions = ~0U;  // bit k: dimension k takes part
    std::uint32_t root = 0;          // position
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    auto operator<=>(const PlanKey&) const = default;
};

struct PhasePlan {
    std::uint32_t digit = 0;  // index into CollectivePlan::digits
    CollectiveKind kind{};
    AlgorithmChoice choice;
    bool returning = false;       // the way down of an all_reduce
    bool whole = false;           // the whole chunk, not the part that lower digits left
    std::uint32_t first_run = 0;  // runs of a chunk are numbered phase by phase
};

struct CollectivePlan {
    PlanKey key;
    const ProcessGroup* group = nullptr;
    std::vector<ProcessGroup::Digit> digits;  // those that take part
    std::vector<PhasePlan> phases;            // none for a group of one
    std::uint32_t runs_a_chunk = 0;
    std::uint32_t members = 1;  // product of the digits: who exchanges data
    std::string algorithm;      // for people: "ring+direct"
    const MeasuredTime* measured = nullptr;

    // The group within a phase that `position` belongs to, its place there, and back.
    std::uint32_t subgroup(std::uint32_t phase, std::uint32_t position) const {
        const auto& digit = digits[phases[phase].digit];
        const std::uint32_t block = digit.stride * digit.size;
        return position / block * digit.stride + position % digit.stride;
    }
    std::uint32_t member(std::uint32_t phase, std::uint32_t position) const {
        const auto& digit = digits[phases[phase].digit];
        return position / digit.stride % digit.size;
    }
    std::uint32_t position(std::uint32_t phase,
                           std::uint32_t subgroup,
                           std::uint32_t member) const {
        const auto& digit = digits[phases[phase].digit];
        return subgroup / digit.stride * (digit.stride * digit.size) + member * digit.stride +
               subgroup % digit.stride;
    }
    // Bytes that a phase works on, of a chunk whose whole buffer is `chunk`.
    Bytes phase_bytes(std::uint32_t phase, std::uint32_t position, Bytes chunk) const;
};

// Throws ConfigError when an algorithm cannot do the kind or the size of the group; warns when a
// group over part of several dimensions falls back to a flat ring.
CollectivePlan make_plan(const ProcessGroup& group,
                         const PlanKey& key,
                         const SystemConfig& config,
                         Warnings& warnings);

}  // namespace astra
