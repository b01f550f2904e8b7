// The greater sizes of hierarchical_test.cpp.
#include <gtest/gtest.h>

#include "tests/support/hierarchy.h"

namespace astra {
namespace {

TEST(HierarchicalSlowTest, EveryAlgorithmAtEveryLevelKeepsThePromise) {
    for (const std::uint32_t members : {24U, 32U, 48U, 64U}) {
        EXPECT_GT(prove_hierarchies(members), 0U) << members;
    }
}

}  // namespace
}  // namespace astra
