// Reading flow sets: what is read, and what is refused at which line.
#include "workload/flows/flow_set.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "tests/support/experiment.h"
#include "tests/support/flow_text.h"

namespace astra {
namespace {

constexpr std::uint32_t kRanks = 16;

FlowSet read(const std::string& text, std::uint32_t ranks = kRanks) {
    const test::ScratchFolder folder;
    return FlowSet::read(folder.write("set.flows", text), ranks);
}

std::vector<std::uint32_t> children(const FlowSet& flows, std::uint32_t flow) {
    const auto span = flows.children(flow);
    return {span.begin(), span.end()};
}

std::string complaint(const std::string& text) {
    try {
        read(text);
    } catch (const TraceError& error) {
        const std::string what = error.what();
        return what.substr(what.find("set.flows"));
    }
    return "no complaint";
}

TEST(FlowSetTest, ReadsColumnsAndEdgesWhateverTheOrderOfIds) {
    const FlowSet flows = read(
        "# comment\n\n"
        "30 1 2 100 20\n"
        "10\t0   1 7 0\r\n"
        "  20 2 3 0 10 \n"
        "18446744073709551615 15 0 72057594037927936 20");
    ASSERT_EQ(flows.size(), 4U);
    EXPECT_EQ(flows.id(0), 30U);
    EXPECT_EQ(flows.id(3), ~std::uint64_t{0});
    EXPECT_EQ(flows.source(0), 1U);
    EXPECT_EQ(flows.destination(0), 2U);
    EXPECT_EQ(flows.bytes(1).count, 7U);
    EXPECT_EQ(flows.bytes(2).count, 0U);
    EXPECT_EQ(flows.bytes(3).count, FlowSet::kMostBytes);
    EXPECT_EQ(flows.parent(0), 2U);
    EXPECT_EQ(flows.parent(1), FlowSet::kNone);
    EXPECT_EQ(flows.parent(2), 1U);
    EXPECT_EQ(flows.parent(3), 2U);
    EXPECT_THAT(children(flows, 0), testing::IsEmpty());
    EXPECT_THAT(children(flows, 1), testing::ElementsAre(2U));
    EXPECT_THAT(children(flows, 2), testing::ElementsAre(0U, 3U));
    EXPECT_EQ(flows.earliest(0).ps, 0U);
}

TEST(FlowSetTest, ASixthColumnIsTheEarliestStart) {
    const FlowSet flows =
        read("1 0 1 8 0\n2 0 1 8 0 5us\n3 0 1 8 2 0\n4 0 1 8 0 1.5ns\n5 0 1 8 0\n");
    const std::vector<std::uint64_t> expected_ps = {0, 5'000'000, 0, 1'500, 0};
    for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
        EXPECT_EQ(flows.earliest(flow).ps, expected_ps[flow]) << flow;
    }
}

TEST(FlowSetTest, AStartThatIsTooLongIsSaidToBe) {
    EXPECT_THAT(complaint("1 0 1 8 0 300days\n"), testing::HasSubstr("is not a time with a unit"));
    EXPECT_THAT(complaint("1 0 1 8 0 6000h\n"),
                testing::HasSubstr("'6000h' is longer than 2^64 ps, some 213 days"));
}

TEST(FlowSetTest, AByteOrderMarkIsNamed) {
    EXPECT_THAT(complaint("\xef\xbb\xbf"
                          "1 0 1 8 0\n"),
                testing::StartsWith("set.flows:1: begins with a byte order mark"));
}

// Blocks are read of 64 KiB: lines lie across their borders.
TEST(FlowSetTest, ManyFlowsAreReadWhole) {
    const std::uint32_t ranks = 64;
    const FlowSet flows = read(test::ring_flows(ranks, 64 * 1000), ranks);
    ASSERT_EQ(flows.size(), 2 * (ranks - 1) * ranks);
    for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
        ASSERT_EQ(flows.id(flow), flow + 1);
        ASSERT_EQ(flows.source(flow), flow % ranks);
        ASSERT_EQ(flows.bytes(flow).count, 1000U);
        if (flow < ranks) {
            ASSERT_EQ(flows.parent(flow), FlowSet::kNone);
            continue;
        }
        const std::uint32_t parent = flows.parent(flow);
        ASSERT_EQ(flows.destination(parent), flows.source(flow));
        ASSERT_EQ(parent / ranks + 1, flow / ranks);
        ASSERT_THAT(children(flows, parent), testing::ElementsAre(flow));
    }
}

TEST(FlowSetTest, CommentsMayBeLongAndLinesMayBeMany) {
    const std::string long_comment = "#" + std::string(300'000, 'x') + "\n";
    const FlowSet flows = read(long_comment + "1 0 1 8 0\n" + long_comment +
                               std::string(100'000, '\n') + "2 1 2 9 1\n" + long_comment);
    ASSERT_EQ(flows.size(), 2U);
    EXPECT_EQ(flows.bytes(1).count, 9U);
    EXPECT_THAT(complaint(long_comment + "1 0 1 8 0\n" + long_comment + "\n\n2 1 2 9"),
                testing::StartsWith("set.flows:6: only 4 columns"));
}

// Wherever the border of a block falls within it.
TEST(FlowSetTest, ALongLineIsRefusedAtAnyOffset) {
    for (std::size_t before = 65'536 - 3'000; before < 65'536; before += 250) {
        EXPECT_THAT(complaint(std::string(before, '\n') + std::string(5'000, '7')),
                    testing::StartsWith(
                        fmt::format("set.flows:{}: a line of more than 1024 bytes", before + 1)));
    }
    // As long as a line may be.
    EXPECT_EQ(read("1 0 1" + std::string(1024 - 9, ' ') + "8 0\n2 0 1 8 0\n").size(), 2U);
}

struct Bad {
    const char* name;
    std::string text;
    const char* complaint;
};

std::ostream& operator<<(std::ostream& out, const Bad& bad) {
    return out << bad.name;
}

class BadFlowSet : public testing::TestWithParam<Bad> {};

TEST_P(BadFlowSet, IsRefusedWithItsLine) {
    EXPECT_THAT(complaint(GetParam().text), testing::StartsWith(GetParam().complaint));
}

const std::string kGood = "1 0 1 8 0\n";

INSTANTIATE_TEST_SUITE_P(
    Lines,
    BadFlowSet,
    testing::Values(
        Bad{"Empty", "", "set.flows: holds no flow; 'id src dst bytes after [start]' is expected"},
        Bad{"OnlyComments", "# 4\n\n", "set.flows: holds no flow"},
        Bad{"ColumnMissing", kGood + "2 0 1 8\n", "set.flows:2: only 4 columns; 'id src"},
        Bad{"ColumnTooMany",
            kGood + "2 0 1 8 0 5us 7\n",
            "set.flows:2: '7' is one column too many"},
        Bad{"NotANumber", kGood + "2 0 x 8 0\n", "set.flows:2: dst: 'x' is not a whole number"},
        Bad{"Negative", kGood + "2 0 -1 8 0\n", "set.flows:2: dst: '-1' is not a whole number"},
        Bad{"Fraction", kGood + "2 0 1 8.5 0\n", "set.flows:2: bytes: '8.5' is not a whole number"},
        Bad{"Signed", kGood + "+2 0 1 8 0\n", "set.flows:2: id: '+2' is not a whole number"},
        Bad{"IdZero", kGood + "0 0 1 8 0\n", "set.flows:2: id: 0 is no id"},
        Bad{"IdBeyond64Bits",
            kGood + "18446744073709551616 0 1 8 0\n",
            "set.flows:2: id: 18446744073709551616 is beyond the limit of 18446744073709551615"},
        Bad{"IdTwice", kGood + "\n2 0 1 8 0\n2 1 0 8 0\n", "set.flows:4: id 2 stands in line 3"},
        Bad{"IdTwiceUnordered",
            "9 0 1 8 0\n5 0 1 8 0\n9 1 0 8 0\n5 1 2 8 0\n",
            "set.flows:3: id 9 stands in line 1 already"},
        Bad{"AfterUnknown",
            kGood + "2 0 1 8 3\n",
            "set.flows:2: after: there is no flow 3 for flow 2 to wait for"},
        Bad{"AfterInAGap", "1 0 1 8 0\n5 0 1 8 3\n", "set.flows:2: after: there is no flow 3"},
        Bad{"SourceTooLarge",
            kGood + "2 16 1 8 0\n",
            "set.flows:2: src: there is no rank 16; the ranks are 0 to 15"},
        Bad{"DestinationOut",
            kGood + "2 1 4294967297 8 0\n",
            "set.flows:2: dst: there is no rank 4294967297"},
        Bad{"ToItself", kGood + "2 1 1 8 0\n", "set.flows:2: flow 2 goes from rank 1 to itself"},
        Bad{"TooManyBytes",
            kGood + "2 0 1 72057594037927937 0\n",
            "set.flows:2: bytes: 72057594037927937 is beyond the limit of 72057594037927936"},
        Bad{"BadStart",
            kGood + "2 0 1 8 0 5\n",
            "set.flows:2: start: '5' is not a time with a unit"},
        Bad{"WaitsForItself", kGood + "2 0 1 8 2\n", "set.flows:2: flow 2 waits for itself"},
        Bad{"Circle",
            "1 0 1 8 4\n2 0 1 8 0\n3 0 1 8 4\n4 1 2 8 5\n5 2 3 8 3\n",
            "set.flows:3: 3 flows wait for each other in a circle: 4 after 5 after 3 after 4"},
        Bad{"LongLine",
            kGood + "2 0 1 8" + std::string(2'000'000, ' ') + "0\n",
            "set.flows:2: a line of more than 1024 bytes"},
        Bad{"Zeros", std::string(2'000'000, '\0'), "set.flows:1: a line of more than 1024 bytes"},
        Bad{"Binary",
            std::string("\x7f\x45\x4c\x46\x02\x01\x00\xff\n", 9),
            "set.flows: this is a program (ELF)"}),
    [](const testing::TestParamInfo<Bad>& row) { return row.param.name; });

// 65 flows of 2^56 bytes are more than 2^62.
TEST(FlowSetTest, AllFlowsTogetherHaveALimit) {
    std::string text;
    for (int id = 1; id <= 65; ++id) {
        text += fmt::format("{} 0 1 {} 0\n", id, FlowSet::kMostBytes);
    }
    EXPECT_THAT(complaint(text), testing::StartsWith("set.flows:65: the flows up to here carry"));
}

}  // namespace
}  // namespace astra
