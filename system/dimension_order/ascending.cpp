#include "system/plan/dimension_order.h"

namespace astra {

const DimensionOrder kAscendingDimensionOrder = {
    "ascending",
    "the first dimension first, for every chunk",
    false,
    [](const ChunksToOrder& question) {
        return std::vector<DigitOrder>(question.chunks, question.plan.ascending());
    }};

}  // namespace astra
