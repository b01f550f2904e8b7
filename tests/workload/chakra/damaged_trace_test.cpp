// Whatever is in a file, the loader answers with a TraceError or a valid graph.
#include <random>

#include <gmock/gmock.h>

#include "tests/workload/trace_maker.h"

namespace astra::test {
namespace {

std::vector<std::string> records() {
    return {metadata("0.0.4"),
            node(1, "load", Load, {}, int64_attribute("tensor_size", 100)),
            node(2,
                 "compute",
                 Comp,
                 {1},
                 int64_attribute("num_ops", 5) + attribute("inputs", "") + number_field(7, 3)),
            node(3,
                 "ar",
                 Coll,
                 {1, 2},
                 int64_attribute("comm_type", 0) + int64_attribute("comm_size", 7) +
                     flags_attribute("involved_dim", {true, false})),
            node(4,
                 "send",
                 Send,
                 {3},
                 int64_attribute("comm_dst", 0) + int64_attribute("comm_tag", 1) +
                     int64_attribute("comm_size", 1000))};
}

std::string joined() {
    std::string bytes;
    for (const std::string& record : records()) {
        bytes += record;
    }
    return bytes;
}

const char kJson[] = R"({"workload_graph": [
  {"Id": 1, "Name": "c", "NodeType": 4, "runtime": 1.5, "data_deps": []},
  {"id": "2", "name": "a\u00e4", "type": "COMM_COLL_NODE", "ctrlDeps": ["1"], "comm_type": 0,
   "comm_size": 12, "involved_dim": [true, false], "attr": [
     {"name": "comm_priority", "int64Val": "3"}, {"name": "x", "boolList": {"values": [true]}}]}
 ], "ngpus": 1})";

TEST(DamagedTrace, TruncatedAnywhere) {
    const std::string bytes = joined();
    std::vector<std::size_t> ends;
    std::size_t end = 0;
    for (const std::string& record : records()) {
        ends.push_back(end += record.size());
    }
    std::size_t whole = 0;
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        Warnings warnings;
        const bool boundary = std::find(ends.begin(), ends.end(), size) != ends.end();
        try {
            const Workload workload = load_bytes(std::string_view(bytes).substr(0, size), warnings);
            EXPECT_TRUE(boundary) << size;
            EXPECT_EQ(workload.ranks[0].graph->size(), whole);
            ++whole;
        } catch (const TraceError&) {
            EXPECT_FALSE(boundary) << size;
        }
    }
    EXPECT_EQ(whole, records().size());
}

TEST(DamagedTrace, FlippedBytes) {
    std::mt19937 random(1);
    const std::string original = joined();
    for (int i = 0; i < 1000; ++i) {
        std::string bytes = original;
        for (unsigned k = 0; k <= random() % 3; ++k) {
            bytes[random() % bytes.size()] = static_cast<char>(random());
        }
        complaint(bytes);
    }
}

TEST(DamagedTrace, TruncatedJson) {
    const std::string_view text = kJson;
    EXPECT_EQ(complaint(text), "");
    for (std::size_t size = 0; size < text.size(); ++size) {
        EXPECT_NE(complaint(text.substr(0, size)), "") << size;
    }
}

TEST(DamagedTrace, FlippedJson) {
    std::mt19937 random(2);
    for (int i = 0; i < 1000; ++i) {
        std::string text = kJson;
        for (unsigned k = 0; k <= random() % 3; ++k) {
            text[random() % text.size()] = "{}[]\",:0-eat \\"[random() % 14];
        }
        complaint(text);
    }
}

TEST(DamagedTrace, DeepJson) {
    EXPECT_THAT(complaint(std::string(100'000, '[')), testing::HasSubstr("holds a list"));
    EXPECT_THAT(complaint(R"({"x": )" + std::string(100'000, '[')),
                testing::HasSubstr("nested deeper than 64"));
}

}  // namespace
}  // namespace astra::test
