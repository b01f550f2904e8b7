// What no schedule can beat: the least time in which links of given bandwidths move what a
// collective has to move. Latencies are left out.
#pragma once

#include "system/synthesis/group_graph.h"

namespace astra {

// For `size` bytes in the whole buffer. The members are cut into parts: each member alone, and
// the domains of each level of reach.h (what fast links hold together, so that slow ones join it to
// the rest). With n members, p parts, a part of m members, and in and out the bandwidth of all its
// links from and to other parts:
//   all_gather      (n-m)/n · size / in;  m/n · size / out
//   reduce_scatter  the same with in and out changed
//   all_reduce      size / in;  size / out;  2(p-1) · size / sum of in (or of out) over all parts
// Requires one of these kinds. Links in the middle of a path are not looked at.
Duration bandwidth_bound(const GroupGraph& graph, CollectiveKind kind, Bytes size);

}  // namespace astra
