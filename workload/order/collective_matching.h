// Numbers the collectives of each group alike on all its members, from their traces alone.
//
// The order of a member's collectives is that of its program. Where the members agree one by one
// about what they ask for (kind, size, dimensions, root, algorithm), the k-th belongs to the
// k-th; where they do not, the j-th of those that ask for the same to the j-th. Among those that
// ask for the same, names decide first if they say anything: if every member has the same names,
// equally often, and more than one.
#pragma once

#include <string>
#include <vector>

#include "workload/order/op_matching.h"
#include "workload/order/order_names.h"

namespace astra {

struct MatchedCollectives {
    bool by_names = false;               // somewhere names were followed, not positions
    std::vector<std::string> reordered;  // of each group whose members differ in order: an example
};

// A member may have fewer collectives than another: it never joins the others. Throws InputError
// when members ask for what does not belong together in any order.
MatchedCollectives match_collectives(OpMatching& matching,
                                     const CollectiveNaming& naming,
                                     const OrderNames& names,
                                     bool follow_names);

}  // namespace astra
