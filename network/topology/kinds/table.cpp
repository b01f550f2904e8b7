#include <array>

#include "network/topology/dimension.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const DimensionInfo k##name##Dimension;
#include "network/topology/kinds/builtins.def"
#undef ASTRA_BUILTIN

std::span<const DimensionInfo* const> dimension_kinds() {
    static constexpr std::array table = {
#define ASTRA_BUILTIN(name) &k##name##Dimension,
#include "network/topology/kinds/builtins.def"
#undef ASTRA_BUILTIN
    };
    return table;
}

}  // namespace astra
