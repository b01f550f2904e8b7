// Collectives of a group that members come to under one number are one.
#include "system/engine/collective_matching.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"
#include "network/topology/topology_reader.h"
#include "system/engine/collective_report.h"

namespace astra {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CollectiveMatchingTest : public testing::Test {
  protected:
    CollectiveMatchingTest() { matching_.add_group(); }

    CollectiveMatching::Arrival come(std::uint32_t position,
                                     std::uint64_t sequence,
                                     std::uint64_t bytes) {
        CollectiveRequest request;
        request.kind = CollectiveKind::AllReduce;
        request.bytes = {bytes};
        request.sequence = sequence;
        request.node_id = 10 + position;
        return matching_.come(group_, position, request, {now_ps_++});
    }
    std::vector<std::uint64_t> open() const {
        std::vector<std::uint64_t> sequences;
        for (const CollectiveInstance* instance : matching_.open(group_.id())) {
            sequences.push_back(instance->sequence);
        }
        return sequences;
    }

    ConfigTree tree_ = ConfigTree::parse_text(
        "dimensions: [{topology: ring, ranks: 4, bandwidth: 1GB/s}]", "matching.yml");
    Topology topology_ = read_topology(tree_.root());
    ProcessGroup group_{GroupId{0}, "pair", {3, 1}, topology_};
    CollectiveMatching matching_;
    std::uint64_t now_ps_ = 0;
};

// Position 0 runs ahead by two collectives; position 1 then comes to the first of them.
TEST_F(CollectiveMatchingTest, ByNumber) {
    EXPECT_TRUE(come(0, 0, 8).is_first);
    EXPECT_TRUE(come(0, 1, 16).is_first);
    const CollectiveMatching::Arrival second = come(1, 0, 8);
    EXPECT_FALSE(second.is_first);
    EXPECT_EQ(second.instance.sequence, 0U);
    EXPECT_EQ(second.instance.start.ps, 0U);
    EXPECT_EQ(second.instance.members[1].since.ps, 2U);
    EXPECT_TRUE(second.instance.everyone_has_come());
    EXPECT_FALSE(matching_.open(group_.id())[1]->everyone_has_come());
}

// The second ends first: its instance becomes the third collective, but the first keeps its number.
TEST_F(CollectiveMatchingTest, ClosedOutOfOrder) {
    for (const std::uint32_t position : {0U, 1U}) {
        come(position, 0, 8);
        come(position, 1, 16);
    }
    const std::vector<const CollectiveInstance*> both = matching_.open(group_.id());
    ASSERT_EQ(both.size(), 2U);
    const std::uint32_t number = both[1]->number;
    matching_.close(*both[1]);
    EXPECT_THAT(open(), ElementsAre(0));
    const CollectiveInstance& third = come(1, 2, 24).instance;
    EXPECT_EQ(third.sequence, 2U);
    EXPECT_EQ(third.created, 2U);
    EXPECT_EQ(third.number, number);
    EXPECT_THAT(open(), ElementsAre(0, 2));
    matching_.close(*both[0]);
    EXPECT_THAT(open(), ElementsAre(2));
    EXPECT_EQ(come(0, 2, 24).instance.sequence, 2U);
}

// Position 0 comes to the second first, position 1 to the first: nothing is joined by chance, and
// what nobody has come to is no collective.
TEST_F(CollectiveMatchingTest, InAnyOrder) {
    EXPECT_TRUE(come(0, 3, 16).is_first);
    EXPECT_THAT(open(), ElementsAre(3));
    EXPECT_TRUE(come(1, 0, 8).is_first);
    EXPECT_THAT(open(), ElementsAre(0, 3));
    EXPECT_FALSE(come(1, 3, 16).is_first);
    matching_.close(*matching_.open(group_.id())[1]);
    EXPECT_THAT(open(), ElementsAre(0));
    EXPECT_FALSE(come(0, 0, 8).is_first);
    EXPECT_THROW(come(1, 3, 16), InternalError);
}

TEST_F(CollectiveMatchingTest, RefusesAnotherSize) {
    come(0, 0, 8);
    try {
        come(1, 0, 16);
        FAIL() << "no error";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("at 1 ps: the ranks of group 'pair' disagree"));
        EXPECT_THAT(error.what(),
                    HasSubstr("rank 3 (node 10) asks for all_reduce of 8 B, rank 1 (node 11) for "
                              "all_reduce of 16 B"));
    }
}

TEST_F(CollectiveMatchingTest, ReportsWhoIsMissing) {
    come(1, 0, 8);
    come(1, 1, 16);
    const CollectiveReport report(matching_);
    EXPECT_EQ(report.waiting(group_, 0), "group 'pair'");
    EXPECT_THAT(report.unfinished(1),
                ElementsAre("group 'pair', collective 0 (all_reduce of 8 B): arrived: ranks 1; "
                            "missing: ranks 3",
                            "…"));
}

}  // namespace
}  // namespace astra
