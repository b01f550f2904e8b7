// Numbers the sends and receives of each source, destination and tag alike on both sides.
//
// The k-th send in the program of the source belongs to the k-th receive in that of the
// destination; where
// sizes differ but for their order, the j-th of a size to the j-th of it.
#pragma once

#include "workload/order/op_matching.h"
#include "workload/order/order_names.h"

namespace astra {

// A side may have fewer than the other. Throws InputError where sizes differ in any order.
void match_messages(OpMatching& matching, const OrderNames& names);

}  // namespace astra
