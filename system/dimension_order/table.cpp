#include <array>

#include "system/plan/dimension_order.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const DimensionOrder k##name##DimensionOrder;
#include "system/dimension_order/builtins.def"
#undef ASTRA_BUILTIN

const Registry<DimensionOrder>& dimension_orders() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##DimensionOrder,
#include "system/dimension_order/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<DimensionOrder> table("dimension order", entries);
    return table;
}

}  // namespace astra
