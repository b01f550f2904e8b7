// The table of things chosen by name.
#include "astra/core/registry.h"

#include <array>

#include <gtest/gtest.h>

namespace astra {
namespace {

struct Fruit {
    std::string_view name;
    std::string_view summary;
};

constexpr Fruit kApple = {.name = "apple", .summary = "round"};
constexpr Fruit kBanana = {.name = "banana", .summary = "long"};
constexpr Fruit kFig = {.name = "fig", .summary = "soft"};
constexpr std::array kFruits = {&kApple, &kBanana, &kFig};
constexpr Registry<Fruit> kTable("fruit", kFruits);

TEST(RegistryTest, FindsByTheWholeNameOnly) {
    EXPECT_EQ(kTable.find("banana"), &kBanana);
    EXPECT_EQ(kTable.find("banan"), nullptr);
    EXPECT_EQ(kTable.find(""), nullptr);
}

TEST(RegistryTest, ListsInTheOrderOfTheTable) {
    EXPECT_EQ(kTable.list(), "apple, banana or fig");
    EXPECT_EQ(kTable.describe("- "), "- apple   round\n- banana  long\n- fig     soft\n");
}

TEST(RegistryTest, NamesTheNearest) {
    EXPECT_EQ(kTable.nearest("aple"), "; did you mean 'apple'?");
    EXPECT_EQ(kTable.nearest("zzzzzz"), "; valid: apple, banana, fig");
}

TEST(RegistryTest, AListOfOneAndOfNone) {
    const std::array<const Fruit*, 1> one = {&kFig};
    EXPECT_EQ(Registry<Fruit>("fruit", one).list(), "fig");
    EXPECT_EQ(Registry<Fruit>("fruit", {}).list(), "");
}

}  // namespace
}  // namespace astra
