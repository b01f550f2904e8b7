// An oversubscription that changes nothing is said, of every kind that takes one.
#include "network/topology/idle_oversubscription.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "network/topology/topology_reader.h"

namespace astra {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> idle(const std::string& keys) {
    const ConfigTree study = ConfigTree::parse_text(
        "network: {dimensions: [{topology: ring, ranks: 2, bandwidth: 1GB/s}, {bandwidth: "
        "400Gbps, " +
            keys + "}]}",
        "study.yml");
    return idle_oversubscriptions(study, read_topology(study.root().at("network")));
}

// Eight links down: 8 / 1.1 = 7.3 links up are rounded up to 8, 8 / 2 = 4 are fewer.
TEST(IdleOversubscription, ThatIsRoundedAway) {
    const std::string leaf = "topology: leaf_spine, ranks: 16, hosts_per_leaf: 8, ";
    EXPECT_THAT(idle(leaf + "oversubscription: 1.1"),
                ElementsAre(HasSubstr("network.dimensions.1.oversubscription: no effect")));
    EXPECT_THAT(idle(leaf + "oversubscription: 2"), IsEmpty());
    EXPECT_THAT(idle(leaf + "oversubscription: 0.9"), IsEmpty());
    EXPECT_THAT(idle(leaf + "oversubscription: 1"), IsEmpty());
}

TEST(IdleOversubscription, ThatAnotherKeyDecides) {
    EXPECT_THAT(
        idle("topology: leaf_spine, ranks: 16, hosts_per_leaf: 8, oversubscription: 2, spines: 8"),
        ElementsAre(HasSubstr("no effect")));
    EXPECT_THAT(idle("topology: rail_optimised, ranks: 32, oversubscription: 2, spines: 3"),
                ElementsAre(HasSubstr("no effect")));
    const std::string tree =
        "topology: fat_tree, ranks: 16, hosts_per_leaf: 2, leaves_per_pod: 2, "
        "oversubscription: 2, aggregations_per_pod: 2";
    EXPECT_THAT(idle(tree), IsEmpty());  // it holds between aggregations and cores
    EXPECT_THAT(idle(tree + ", cores_per_aggregation: 2"), ElementsAre(HasSubstr("no effect")));
}

}  // namespace
}  // namespace astra
