#include "astra/core/rank_classes.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

namespace astra {
namespace {

using testing::ElementsAre;

std::vector<std::uint32_t> random_labels(std::mt19937& random,
                                         std::uint32_t ranks,
                                         std::uint32_t labels) {
    std::vector<std::uint32_t> result;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        result.push_back(static_cast<std::uint32_t>(random() % labels));
    }
    return result;
}

TEST(RankClasses, NumbersClassesByTheirLeastMembers) {
    const RankClasses classes({7, 3, 7, 9, 3});
    EXPECT_EQ(classes.ranks(), 5U);
    EXPECT_EQ(classes.classes(), 3U);
    EXPECT_THAT(classes.members(RankClassId{0}), ElementsAre(RankId{0}, RankId{2}));
    EXPECT_THAT(classes.members(RankClassId{1}), ElementsAre(RankId{1}, RankId{4}));
    EXPECT_THAT(classes.members(RankClassId{2}), ElementsAre(RankId{3}));
    EXPECT_EQ(classes.size(RankClassId{1}), 2U);
    EXPECT_EQ(classes.class_of(RankId{4}), RankClassId{1});
    EXPECT_FALSE(classes.is_representative(RankId{4}));
    EXPECT_TRUE(classes.is_representative(RankId{3}));
}

// Every rank is in one class; two are together exactly if their labels are equal; the
// representative is the least member.
TEST(RankClasses, IsAPartitionByLabel) {
    std::mt19937 random(1);
    for (int i = 0; i < 50; ++i) {
        const auto labels = random_labels(random, 1 + static_cast<std::uint32_t>(i), 5);
        const RankClasses classes(labels);
        std::uint32_t members = 0;
        for (std::uint32_t c = 0; c < classes.classes(); ++c) {
            const RankClassId id{c};
            members += classes.size(id);
            EXPECT_EQ(classes.representative(id),
                      *std::min_element(classes.members(id).begin(), classes.members(id).end()));
            for (const RankId rank : classes.members(id)) {
                EXPECT_EQ(classes.class_of(rank), id);
                EXPECT_EQ(labels[index(rank)], labels[index(classes.representative(id))]);
            }
        }
        EXPECT_EQ(members, classes.ranks());
        EXPECT_EQ(classes.classes(), std::set<std::uint32_t>(labels.begin(), labels.end()).size());
    }
}

// The refinement of two partitions refines both, whatever the order, and is the coarsest to do so:
// ranks that neither tells apart stay together.
TEST(RankClasses, RefinementIsTheCoarsestThatRefinesBoth) {
    std::mt19937 random(2);
    for (int i = 0; i < 50; ++i) {
        const auto labels = random_labels(random, 40, 4);
        const auto others = random_labels(random, 40, 3);
        const RankClasses a(labels);
        const RankClasses b(others);
        const RankClasses both = a.refined_by(b);
        EXPECT_TRUE(both.refines(a));
        EXPECT_TRUE(both.refines(b));
        EXPECT_EQ(both, b.refined_by(a));
        EXPECT_EQ(both.refined_by(a), both);
        std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
        for (std::uint32_t rank = 0; rank < 40; ++rank) {
            pairs.emplace(labels[rank], others[rank]);
        }
        EXPECT_EQ(both.classes(), pairs.size());
    }
}

TEST(RankClasses, EachAloneRefinesAll) {
    const RankClasses alone = RankClasses::each_alone(5);
    EXPECT_EQ(alone.classes(), 5U);
    EXPECT_TRUE(alone.refines(RankClasses({0, 0, 1, 1, 0})));
    EXPECT_FALSE(RankClasses({0, 0, 1, 1, 0}).refines(alone));
    EXPECT_EQ(RankClasses({0, 0, 1, 1, 0}).refined_by(alone), alone);
    EXPECT_EQ(RankClasses().classes(), 0U);
}

}  // namespace
}  // namespace astra
