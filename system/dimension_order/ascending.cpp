#include "system/plan/dimension_order.h"

namespace astra {

extern const DimensionOrder kAscendingDimensionOrder;
const DimensionOrder kAscendingDimensionOrder = {
    .name = "ascending",
    .summary = "the first dimension first, for every chunk",
    .varies = false,
    .orders = [](const ChunksToOrder& question) {
        return std::vector<DimensionSequence>(question.chunks, question.plan.ascending());
    }};

}  // namespace astra
