#include "astra/core/check.h"

#include <string>

#include <gtest/gtest.h>

#include "astra/core/error.h"

namespace astra {
namespace {

constexpr int kCheckedLine = __LINE__ + 4;

std::string message_of_failure(int value, int& evaluations) {
    try {
        ASTRA_CHECK(value == 1, (++evaluations, "value is " + std::to_string(value)));
    } catch (const InternalError& error) {
        return error.what();
    }
    return {};
}

TEST(Check, NamesExpressionFileLineAndDetails) {
    int evaluations = 0;
    const std::string message = message_of_failure(2, evaluations);
    EXPECT_EQ(message,
              "check_test.cpp:" + std::to_string(kCheckedLine) +
                  ": 'value == 1' does not hold: value is 2");
    EXPECT_EQ(evaluations, 1);
}

TEST(Check, DetailsAreNotEvaluatedWhenItHolds) {
    int evaluations = 0;
    EXPECT_EQ(message_of_failure(1, evaluations), "");
    EXPECT_EQ(evaluations, 0);
}

TEST(Check, ShowsOnlyTheBaseNameOfTheFile) {
    try {
        check_failed("a < b", "/some/where/queue.cpp", 7, "");
    } catch (const InternalError& error) {
        EXPECT_STREQ(error.what(), "queue.cpp:7: 'a < b' does not hold");
    }
}

}  // namespace
}  // namespace astra
