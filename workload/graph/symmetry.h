// Which ranks of a job no input of the workload tells apart.
#pragma once

#include "astra/core/rank_classes.h"
#include "workload/graph/execution_graph.h"

namespace astra {

// The coarsest partition in which ranks of a class
//   - share a graph,
//   - have in each peer role ranks of one class, and only together themselves,
//   - see in each group role the same classes when they go round the group from where they stand,
//   - stand equally far from the root of a collective and, where its sizes differ by pair, at the
//     same position.
// It knows nothing of the network, nor of algorithms that treat positions in a group differently:
// who lets a representative stand for its class refines the partition by those.
//
// Method: partition refinement (colour refinement); of a class that is split the largest part keeps
// its number, so that only ranks next to a smaller part are looked at again: O(e · log n) for ranks
// with peers, e = roles of all ranks; a group is looked at whole each time that a member changes.
RankClasses classes_of(const Workload& workload);

}  // namespace astra
