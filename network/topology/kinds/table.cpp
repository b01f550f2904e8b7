#include <array>

#include "network/topology/dimension.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const DimensionInfo k##name##Dimension;
#include "network/topology/kinds/builtins.def"
#undef ASTRA_BUILTIN

const Registry<DimensionInfo>& dimension_kinds() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##Dimension,
#include "network/topology/kinds/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<DimensionInfo> table("topology", entries);
    return table;
}

}  // namespace astra
