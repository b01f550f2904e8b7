#include "workload/order/equal_lists.h"

#include <algorithm>
#include <unordered_map>

namespace astra {

std::vector<std::uint32_t> partners_in(const std::vector<std::uint64_t>& reference,
                                       const std::vector<std::uint64_t>& list) {
    // Of each entry: its occurrences in the reference, the next one last.
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> occurrences;
    for (std::size_t i = reference.size(); i > 0; --i) {
        occurrences[reference[i - 1]].push_back(static_cast<std::uint32_t>(i - 1));
    }
    std::vector<std::uint32_t> partners;
    partners.reserve(list.size());
    for (const std::uint64_t entry : list) {
        const auto found = occurrences.find(entry);
        if (found == occurrences.end() || found->second.empty()) {
            partners.push_back(kNoPartner);
            continue;
        }
        partners.push_back(found->second.back());
        found->second.pop_back();
    }
    return partners;
}

std::uint32_t first_alone(std::size_t reference_size, const std::vector<std::uint32_t>& partners) {
    std::vector<bool> taken(reference_size);
    for (const std::uint32_t partner : partners) {
        if (partner != kNoPartner) {
            taken[partner] = true;
        }
    }
    const auto alone = std::find(taken.begin(), taken.end(), false);
    return alone == taken.end() ? kNoPartner : static_cast<std::uint32_t>(alone - taken.begin());
}

bool is_in_order(const std::vector<std::uint32_t>& partners) {
    for (std::uint32_t i = 0; i < partners.size(); ++i) {
        if (partners[i] != i) {
            return false;
        }
    }
    return true;
}

}  // namespace astra
