// A partition of ranks into classes: ranks that nothing looked at so far tells apart. What is equal
// for a class is stored once and reached through it. Immutable; 8 bytes a rank and 4 a class; all
// lookups O(1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "astra/core/types.h"

namespace astra {

// Classes are numbered by their least members, 0 first.
enum class RankClassId : std::uint32_t {};

constexpr std::uint32_t index(RankClassId id) {
    return static_cast<std::uint32_t>(id);
}

class RankClasses {
  public:
    // No ranks at all.
    RankClasses() : RankClasses(std::vector<std::uint32_t>{}) {}

    // Ranks 0, 1, … with equal labels are of one class.
    explicit RankClasses(const std::vector<std::uint32_t>& labels);

    // Classes of size one.
    static RankClasses each_alone(std::uint32_t ranks);

    std::uint32_t ranks() const { return static_cast<std::uint32_t>(class_of_.size()); }
    std::uint32_t classes() const { return static_cast<std::uint32_t>(begin_.size() - 1); }

    RankClassId class_of(RankId rank) const { return class_of_[index(rank)]; }
    // Ascending.
    std::span<const RankId> members(RankClassId id) const {
        return std::span(members_).subspan(begin_[index(id)], size(id));
    }
    std::uint32_t size(RankClassId id) const { return begin_[index(id) + 1] - begin_[index(id)]; }
    // The least member.
    RankId representative(RankClassId id) const { return members_[begin_[index(id)]]; }
    bool is_representative(RankId rank) const { return representative(class_of(rank)) == rank; }

    // The coarsest partition that tells apart what this one or the other does. Requires as many
    // ranks.
    RankClasses refined_by(const RankClasses& other) const;
    // Whether every class lies within one of the other's. Requires as many ranks.
    bool refines(const RankClasses& other) const;

    bool operator==(const RankClasses& other) const { return class_of_ == other.class_of_; }

  private:
    std::vector<RankClassId> class_of_;
    std::vector<RankId> members_;       // by class
    std::vector<std::uint32_t> begin_;  // by class, into `members_`; one more at the end
};

}  // namespace astra
