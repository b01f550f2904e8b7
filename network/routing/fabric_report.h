// What a fabric is like before anything is sent over it: distances, bisection, path diversity.
// Links that are down count as links and are no part of any path.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "network/routing/routing.h"

namespace astra {

// Up to this many ranks every pair is looked at; above, the paths to some evenly chosen ones.
inline constexpr std::uint32_t kMostRanksOfAllPairs = 2048;

struct LinkClassReport {
    LinkProperties properties;
    std::uint32_t links = 0;
    std::uint32_t down = 0;  // of these
};

// The shortest paths between ordered pairs of different ranks, as a Routing offers them.
struct PathReport {
    std::uint32_t destinations = 0;  // that were looked at, from every rank
    std::uint64_t pairs = 0;         // with a path
    std::uint64_t pairs_cut = 0;     // without one
    std::uint32_t diameter_links = 0;
    double mean_links = 0;
    Duration longest;  // the largest sum of link latencies along a shortest path
    // Shortest paths of a pair; saturating.
    std::uint64_t fewest_paths = 0;
    double mean_paths = 0;
    std::uint64_t most_paths = 0;
    // Pairs whose paths all begin, or all end, with one and the same link.
    std::uint64_t pairs_of_one_first_link = 0;
    std::uint64_t pairs_of_one_last_link = 0;
};

// The paths to all ranks, or to `most_destinations` of them, evenly chosen from rank 0 on. For each
// O(nodes + next links).
PathReport report_paths(Routing& routing, std::uint32_t most_destinations);

// Between the first half of the ranks (0 … ranks / 2 - 1) and the others: the maximum flow over the
// links that are up. Parallel links, and all ranks of a half, are merged first.
struct BisectionReport {
    bool known = false;  // false: too many switches and links for a maximum flow
    Bandwidth forth;     // from the first half to the second
    Bandwidth back;      // from the second half to the first
    Bandwidth full;      // what the ranks of the first half can inject, all links together
};

BisectionReport report_bisection(const Routing& routing);

struct FabricReport {
    std::uint32_t ranks = 0;
    std::uint32_t switches = 0;
    std::uint32_t links = 0;
    std::uint32_t down_links = 0;
    std::vector<LinkClassReport> classes;  // those that have links, in the order of the links
    PathReport paths;
    BisectionReport bisection;
};

// Everything, over the paths of `routing`. All pairs up to kMostRanksOfAllPairs ranks; above, as
// many destinations as keep the work the same, 16 at least.
FabricReport report_fabric(Routing& routing);

}  // namespace astra
