#include "system/plan/asked_size.h"

#include <algorithm>

namespace astra {

std::uint64_t AskedSize::chunks(std::uint32_t members, std::uint64_t most) const {
    const std::uint64_t parts = by_pair ? most : bytes.count / (are_a_shard ? 1 : members);
    return std::clamp<std::uint64_t>(parts, 1, most);
}

}  // namespace astra
