#include "astra/core/text/nearest.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace astra {
namespace {

const std::vector<std::string> kKeys = {"bandwidth", "latency", "ranks", "topology"};

TEST(NearestName, FindsTypingErrors) {
    EXPECT_EQ(nearest_name("bandwith", kKeys), "bandwidth");
    EXPECT_EQ(nearest_name("badnwidth", kKeys), "bandwidth");
    EXPECT_EQ(nearest_name("rank", kKeys), "ranks");
    EXPECT_EQ(nearest_name("LATENCY", kKeys), "latency");
    EXPECT_EQ(nearest_name("latency", kKeys), "latency");
}

TEST(NearestName, TreatsDashAsUnderscore) {
    const std::vector<std::string> names = {"endpoint_delay", "queues"};
    EXPECT_EQ(nearest_name("endpoint-delay", names), "endpoint_delay");
}

TEST(NearestName, SwappedLettersAreOneEdit) {
    const std::vector<std::string> names = {"ab", "xyz"};
    EXPECT_EQ(nearest_name("ba", names), "ab");
    EXPECT_EQ(nearest_name("xzy", names), "xyz");
}

TEST(NearestName, PrefersTheClosestThenTheFirst) {
    const std::vector<std::string> names = {"ring_a", "ring_b", "ring"};
    EXPECT_EQ(nearest_name("ring", names), "ring");
    EXPECT_EQ(nearest_name("ring_c", names), "ring_a");
}

TEST(NearestName, GivesNothingWhenNothingIsNear) {
    EXPECT_EQ(nearest_name("colour", kKeys), "");
    EXPECT_EQ(nearest_name("", kKeys), "");
    EXPECT_EQ(nearest_name("x", std::vector<std::string>{"y"}), "");
    EXPECT_EQ(nearest_name("x", {}), "");
    EXPECT_EQ(nearest_name(std::string(1'000'000, 'b'), kKeys), "");
}

TEST(Suggestion, NamesTheNearestOrListsTheValid) {
    EXPECT_EQ(suggestion("bandwith", kKeys), "; did you mean 'bandwidth'?");
    EXPECT_EQ(suggestion("colour", kKeys), "; valid: bandwidth, latency, ranks, topology");
    EXPECT_EQ(suggestion("colour", {}), "");
}

TEST(Suggestion, ListsAtMostTwelve) {
    std::vector<std::string> names;
    for (int i = 10; i < 30; ++i) {
        names.push_back("name" + std::to_string(i));
    }
    EXPECT_EQ(suggestion("colour", names),
              "; valid: name10, name11, name12, name13, name14, name15, name16, name17, name18, "
              "name19, name20, name21, ...");
}

}  // namespace
}  // namespace astra
