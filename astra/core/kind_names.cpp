#include "astra/core/kind_names.h"

#include <cstdint>

#include "astra/core/types.h"

namespace astra {

std::vector<std::string> collective_kind_names() {
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < kCollectiveKinds; ++i) {
        names.emplace_back(name_of(static_cast<CollectiveKind>(i)));
    }
    return names;
}

}  // namespace astra
