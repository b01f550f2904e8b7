// Text as JSON writes it: RFC 8259, section 7.
#include "astra/core/text/json_text.h"

#include <gtest/gtest.h>

namespace astra {
namespace {

TEST(JsonTextTest, EscapesWhatMustBe) {
    EXPECT_EQ(json_text(""), "\"\"");
    EXPECT_EQ(json_text("a \"b\" \\ c"), R"("a \"b\" \\ c")");
    EXPECT_EQ(json_text("tab\tline\n\x01"), R"("tab\tline\n\u0001")");
    EXPECT_EQ(json_text("\u00e9"), "\"\u00e9\"");
}

TEST(JsonTextTest, WhatIsNoUtf8IsReplaced) {
    EXPECT_EQ(json_text("a\xff"
                        "b"),
              "\"a\uFFFDb\"");
}

}  // namespace
}  // namespace astra
