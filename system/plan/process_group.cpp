#include "system/plan/process_group.h"

#include <algorithm>
#include <utility>

namespace astra {

ProcessGroup::ProcessGroup(GroupId id,
                           std::string name,
                           std::vector<std::uint32_t> ranks,
                           const Topology& topology)
    : id_(id), name_(std::move(name)), ranks_(std::move(ranks)) {
    if (ranks_.size() > 1 && ranks_[1] > ranks_[0]) {
        const std::uint32_t first = ranks_[1] - ranks_[0];
        const auto uneven =
            std::adjacent_find(ranks_.begin(), ranks_.end(), [&](std::uint32_t a, std::uint32_t b) {
                return b < a || b - a != first;
            });
        stride_ = uneven == ranks_.end() ? first : 0;
    }
    std::uint64_t grid_size = 1;
    for (std::uint32_t k = 0; k < topology.dimensions(); ++k) {
        std::vector<bool> seen(topology.ports(k));
        for (const std::uint32_t rank : ranks_) {
            seen[topology.coordinate(rank, k)] = true;
        }
        const auto distinct =
            static_cast<std::uint32_t>(std::count(seen.begin(), seen.end(), true));
        if (distinct > 1) {
            dimensions_.push_back({distinct, static_cast<std::uint32_t>(grid_size), k});
            spanned_.push_back(k);
            grid_size *= distinct;
        }
    }
    // As many ranks as the product of the subsets, without repeats: all of the product.
    is_grid_ = grid_size == ranks_.size() && std::is_sorted(ranks_.begin(), ranks_.end());
    if (!is_grid_) {
        dimensions_ = {flat()};
    }
}

}  // namespace astra
