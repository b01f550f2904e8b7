// The lists of an all_to_all with a size for each pair.
#include "workload/nodes/split_sizes.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/experiment.h"

namespace astra {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::uint64_t> counts(const AttributeValue& value) {
    std::vector<std::uint64_t> result;
    EXPECT_EQ(read_counts(value, result), "");
    return result;
}

std::string fault(const AttributeValue& value) {
    std::vector<std::uint64_t> result;
    return read_counts(value, result);
}

TEST(SplitSizesTest, ListsAreNumbersOrTheirText) {
    AttributeValue list = AttributeValue::of_list("int64_list");
    list.append(1);
    list.append(0);
    EXPECT_THAT(counts(list), ElementsAre(1, 0));
    list.append(300);
    EXPECT_THAT(counts(list), ElementsAre(1, 0, 300));
    EXPECT_THAT(counts(AttributeValue::of_text("[4, 0,17 ]", "string")), ElementsAre(4, 0, 17));
    for (const char* text : {"", "[]", "[ ]"}) {
        EXPECT_THAT(counts(AttributeValue::of_text(text, "string")), IsEmpty());
    }
}

TEST(SplitSizesTest, WhatIsNoListIsSaid) {
    for (const char* text :
         {"[1, 2", "1, 2", "[1,,2]", "[1, ]", "[-1]", "[1.5]", "[1 2]", "[99999999999999999999]"}) {
        EXPECT_THAT(fault(AttributeValue::of_text(text, "string")), HasSubstr("is no list"))
            << text;
    }
    EXPECT_THAT(fault(AttributeValue::of_number(1.5, "double")), HasSubstr("has the type double"));
}

// Without comm_size the lists count elements; with it they count rows of a tensor, as many bytes as
// comm_size allows for.
TEST(SplitSizesTest, TheUnitFollowsFromTheWhole) {
    SplitSizes sizes{{1, 0, 3}, {2, 2, 0}};
    std::optional<std::uint64_t> bytes;
    EXPECT_EQ(to_bytes(sizes, bytes, 2), "");
    EXPECT_THAT(sizes.sends, ElementsAre(2, 0, 6));
    EXPECT_THAT(sizes.receives, ElementsAre(4, 4, 0));
    EXPECT_EQ(bytes, 8U);

    SplitSizes rows{{1, 0, 3}, {2, 2, 0}};
    bytes = 4096;
    EXPECT_EQ(to_bytes(rows, bytes, 2), "");
    EXPECT_THAT(rows.sends, ElementsAre(1024, 0, 3072));
    EXPECT_THAT(rows.receives, ElementsAre(2048, 2048, 0));
}

TEST(SplitSizesTest, AnEmptyListMeansEqualParts) {
    SplitSizes sizes{{}, {5, 6}};
    std::optional<std::uint64_t> bytes = 100;
    EXPECT_EQ(to_bytes(sizes, bytes, 1), "");
    EXPECT_THAT(sizes.sends, ElementsAre(50, 50));
    EXPECT_THAT(sizes.receives, IsEmpty());
}

// A rank that sends nothing has no unit to tell what it receives.
TEST(SplitSizesTest, NothingSentLeavesTheUnitOpen) {
    SplitSizes sizes{{0, 0}, {5, 6}};
    std::optional<std::uint64_t> bytes = 0;
    EXPECT_EQ(to_bytes(sizes, bytes, 1), "");
    EXPECT_THAT(sizes.sends, ElementsAre(0, 0));
    EXPECT_THAT(sizes.receives, IsEmpty());
}

TEST(SplitSizesTest, ContradictionsAreSaid) {
    const auto said = [](SplitSizes sizes, std::optional<std::uint64_t> bytes) {
        return to_bytes(sizes, bytes, 1);
    };
    EXPECT_THAT(said({{1, 2}, {}}, 4), HasSubstr("4 B, is not a multiple of the 3"));
    EXPECT_THAT(said({{1, 2}, {}}, 0), HasSubstr("0 B, is not a multiple of the 3"));
    EXPECT_THAT(said({{1, 2}, {1, 2, 3}}, {}), HasSubstr("has 2 sizes, out_split_size 3"));
    EXPECT_THAT(said({{0, 0}, {}}, 8), HasSubstr("adds up to 0, but comm_size is 8 B"));
    EXPECT_THAT(said({{}, {1, 2}}, 5), HasSubstr("not a multiple of 2 equal parts"));
    EXPECT_THAT(said({{}, {1, 2}}, {}), HasSubstr("missing for 2 equal parts"));
    EXPECT_THAT(said({{~std::uint64_t{0}, 2}, {}}, {}), HasSubstr("more than 2^63 bytes"));
}

// As JSON traces have them: numbers, numbers as protobuf's JSON writes them, and text.
TEST(SplitSizesTest, JsonTracesBringLists) {
    const auto simulated_bytes = [](const std::string& lists) {
        const test::ScratchFolder folder;
        for (const char* rank : {"0", "1"}) {
            folder.write(
                std::string("t.") + rank + ".et",
                R"({"workload_graph": [{"id": 1, "name": "a", "type": 7, "comm_type": 6, )" +
                    lists + "}]}");
        }
        const RunResult result = test::run_study(
            "workload: {trace: " + folder.file("t") +
            "}\nsystem: {collectives: {all_to_all: direct}}\n"
            "network: {dimensions: [{topology: switch, ranks: 2, bandwidth: 1GB/s}]}\n");
        return result.counts.message_bytes;
    };
    // Rank 0 sends its second part, rank 1 its first.
    EXPECT_EQ(simulated_bytes(R"("in_split_size": [5, 7])"), 12U);
    EXPECT_EQ(simulated_bytes(R"("in_split_size": "[5, 7]", "comm_size": 24)"), 24U);
    EXPECT_EQ(simulated_bytes(R"("attr": [{"name": "in_split_size",
        "int64List": {"values": ["5", "7"]}}])"),
              12U);
    EXPECT_EQ(simulated_bytes(R"("in_split_size": [], "comm_size": 24)"), 24U);
}

// Ranks that send different sums do not contradict each other; one without sizes does.
TEST(SplitSizesTest, InspectingTracesKnowsOfPairs) {
    const test::ScratchFolder folder;
    const auto write = [&](const char* rank, const std::string& sizes) {
        folder.write(std::string("t.") + rank + ".et",
                     R"({"workload_graph": [{"id": 1, "name": "a", "type": 7, "comm_type": 6, )" +
                         sizes + "}]}");
    };
    write("0", R"("in_split_size": [5, 7])");
    write("1", R"("in_split_size": [1, 2])");
    const Arguments inspect = {"inspect", "trace", folder.file("t")};
    EXPECT_EQ(test::run_captured(inspect).status, 0);
    write("1", R"("comm_size": 12)");
    const test::ProgramRun differ = test::run_captured(inspect);
    EXPECT_EQ(differ.status, 2);
    EXPECT_THAT(differ.error, HasSubstr("other kinds or sizes"));
}

// Both all_to_alls of a layer, 3 B to 1 B: rank 0 keeps 3 of 4 MiB and sends 1, rank 1 the other
// way round.
TEST(SplitSizesTest, ExpertsAreWantedUnevenly) {
    const RunResult result = test::run_study(
        "workload: {generate: {kind: experts, layers: 1, bytes: 4MiB, skew: 3}}\n"
        "system: {collectives: {all_to_all: direct}}\n"
        "network: {dimensions: [{topology: switch, ranks: 2, bandwidth: 1GB/s}]}\n");
    EXPECT_EQ(result.counts.message_bytes, 2ULL * (1 + 3) << 20U);
}

}  // namespace
}  // namespace astra
