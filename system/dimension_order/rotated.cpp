// Chunk c begins with dimension c mod D and goes on in ascending order, round and round. Where all
// dimensions are alike and D divides the number of chunks, each has as much to do as every other at
// any time: all links of a torus work.
#include <algorithm>

#include "system/plan/dimension_order.h"

namespace astra {

extern const DimensionOrder kRotatedDimensionOrder;
const DimensionOrder kRotatedDimensionOrder = {
    .name = "rotated",
    .summary = "chunk c begins with dimension c mod D: all dimensions at once",
    .varies = true,
    .orders = [](const ChunksToOrder& question) {
        std::vector<DimensionSequence> orders;
        orders.reserve(question.chunks);
        DimensionSequence order = question.plan.ascending();
        for (std::uint64_t chunk = 0; chunk < question.chunks; ++chunk) {
            orders.push_back(order);
            std::rotate(order.begin(), order.begin() + 1, order.end());
        }
        return orders;
    }};

}  // namespace astra
