// Fabrics beyond the limits, and one of a million ranks that has no links: it has to be built
// before that shows, and so costs more than others, but still no harm.
#include <string>
#include <vector>

#include "tests/invalid/bad_network.h"

namespace astra::test {
namespace {

const std::vector<BadNetwork> kTooLarge = {
    {"SpinesTimesLeaves",
     dimension("topology: leaf_spine, ranks: 1024, hosts_per_leaf: 1, spines: 65536"),
     {"study.yml:3:", "links; at most 16777216 can be held"}},
    {"PlanesTimesNics",
     dimension("topology: leaf_spine, ranks: 1048576, planes: 1024, nics: 1024"),
     {"study.yml:3:", "links; at most 16777216 can be held"}},
    {"LinksPerSpineTimesSpines",
     dimension("topology: leaf_spine, ranks: 8, links_per_spine: 1024, spines: 65536"),
     {"study.yml:3:", "links; at most 16777216 can be held"}},
    {"RoutersPerGroup",
     dimension("topology: dragonfly, ranks: 8, routers_per_group: 65536"),
     {"study.yml:3:", "links; at most 16777216 can be held"}},
    {"RailSpines",
     dimension("topology: rail_optimised, ranks: 1024, spines: 1000000"),
     {"study.yml:3:", "links; at most 16777216 can be held"}},
    {"GraphHostsWithoutLinks",
     on_graph(),
     {"study.yml:3:", "no path from rank 1 to rank 0"},
     "hosts: 1048576\nlinks: []\n"},
    {"GraphCountBothWays",
     on_graph(),
     {"graph.yml:3:", "from 1 to 1024"},
     "hosts: 2\nlinks:\n  - {from: host0, to: host1, count: 16777216}\n"},
};

class NetworkTooLarge : public testing::TestWithParam<BadNetwork> {};

TEST_P(NetworkTooLarge, IsRefused) {
    expect_refused(GetParam(), 5);
}

INSTANTIATE_TEST_SUITE_P(All, NetworkTooLarge, testing::ValuesIn(kTooLarge), kBadNetworkName);

}  // namespace
}  // namespace astra::test
