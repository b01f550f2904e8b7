#include <array>

#include "system/plan/dimension_order.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const DimensionOrder k##name##DimensionOrder;
#include "system/dimension_order/builtins.def"
#undef ASTRA_BUILTIN

std::span<const DimensionOrder* const> dimension_orders() {
    static constexpr std::array table = {
#define ASTRA_BUILTIN(name) &k##name##DimensionOrder,
#include "system/dimension_order/builtins.def"
#undef ASTRA_BUILTIN
    };
    return table;
}

const DimensionOrder* find_dimension_order(std::string_view name) {
    for (const DimensionOrder* order : dimension_orders()) {
        if (order->name == name) {
            return order;
        }
    }
    return nullptr;
}

}  // namespace astra
