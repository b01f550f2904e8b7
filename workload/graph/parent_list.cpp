#include "workload/graph/parent_list.h"

#include <algorithm>

namespace astra {

std::uint32_t ParentList::add(std::uint64_t id, std::vector<std::uint64_t>& parents) {
    std::sort(parents.begin(), parents.end());
    parents.erase(std::unique(parents.begin(), parents.end()), parents.end());
    for (const std::uint64_t parent : parents) {
        // Differences wrap around; zigzag keeps those of both signs short.
        const std::uint64_t difference = id - parent;
        const std::uint64_t sign = 0 - (difference >> 63U);
        std::uint64_t rest = (difference << 1U) ^ sign;
        while (rest >= 0x80U) {
            bytes_.push_back(static_cast<std::uint8_t>(rest | 0x80U));
            rest >>= 7U;
        }
        bytes_.push_back(static_cast<std::uint8_t>(rest));
    }
    count_ += parents.size();
    return static_cast<std::uint32_t>(parents.size());
}

std::uint64_t ParentList::Reader::next(std::uint64_t id) {
    std::uint64_t value = 0;
    unsigned shift = 0;
    std::uint8_t byte = 0;
    do {
        byte = bytes_[position_++];
        value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
        shift += 7;
    } while ((byte & 0x80U) != 0);
    const std::uint64_t difference = (value >> 1U) ^ (0 - (value & 1U));
    return id - difference;
}

}  // namespace astra
