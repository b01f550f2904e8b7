#include "astra/core/rank_classes.h"

#include <numeric>
#include <unordered_map>

#include "astra/core/check.h"

namespace astra {

RankClasses::RankClasses(const std::vector<std::uint32_t>& labels) {
    std::unordered_map<std::uint32_t, std::uint32_t> numbers;
    std::vector<std::uint32_t> sizes;
    class_of_.reserve(labels.size());
    for (const std::uint32_t label : labels) {
        const auto number =
            numbers.try_emplace(label, static_cast<std::uint32_t>(sizes.size())).first->second;
        sizes.resize(numbers.size());
        ++sizes[number];
        class_of_.push_back(RankClassId{number});
    }
    begin_.assign(sizes.size() + 1, 0);
    std::partial_sum(sizes.begin(), sizes.end(), begin_.begin() + 1);
    members_.resize(labels.size());
    std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
    for (std::uint32_t rank = 0; rank < labels.size(); ++rank) {
        members_[next[index(class_of_[rank])]++] = RankId{rank};
    }
}

RankClasses RankClasses::each_alone(std::uint32_t ranks) {
    std::vector<std::uint32_t> labels(ranks);
    std::iota(labels.begin(), labels.end(), 0);
    return RankClasses(labels);
}

RankClasses RankClasses::refined_by(const RankClasses& other) const {
    ASTRA_CHECK(ranks() == other.ranks(), "partitions of the same ranks");
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    std::vector<std::uint32_t> labels;
    labels.reserve(class_of_.size());
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
        const std::uint64_t both =
            (std::uint64_t{index(class_of_[rank])} << 32U) | index(other.class_of_[rank]);
        labels.push_back(
            numbers.try_emplace(both, static_cast<std::uint32_t>(numbers.size())).first->second);
    }
    return RankClasses(labels);
}

bool RankClasses::refines(const RankClasses& other) const {
    ASTRA_CHECK(ranks() == other.ranks(), "partitions of the same ranks");
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
        const RankId first = representative(class_of_[rank]);
        if (other.class_of(first) != other.class_of_[rank]) {
            return false;
        }
    }
    return true;
}

}  // namespace astra
