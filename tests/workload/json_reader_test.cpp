#include <gmock/gmock.h>

#include "tests/workload/trace_maker.h"

namespace astra::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ExecutionGraph graph_of(std::string_view text) {
    Warnings warnings;
    const Workload workload = load_bytes(text, warnings);
    EXPECT_THAT(warnings.texts(), IsEmpty()) << text;
    return *workload.ranks[0].graph;
}

ExecutionGraph from_protobuf() {
    return graph_of(metadata("0.0.4") +
                    node(1,
                         "c",
                         Comp,
                         {},
                         int64_attribute("num_ops", 10) + int64_attribute("tensor_size", 20) +
                             number_field(7, 3)) +
                    node(2,
                         "ar",
                         Coll,
                         {1},
                         int64_attribute("comm_type", 6) + int64_attribute("comm_size", 4096) +
                             flags_attribute("involved_dim", {true, false}) +
                             int64_attribute("comm_priority", 9)));
}

TEST(JsonReader, BothSpellingsMakeTheSameGraph) {
    EXPECT_EQ(graph_of(R"({"workload_name": "w", "ngpus": 1, "workload_graph": [
        {"Id": 1, "Name": "c", "NodeType": 4, "num_ops": 10, "tensor_size": 20, "runtime": 3},
        {"id": 2, "name": "ar", "type": 7, "ctrlDeps": [1], "data_deps": [1], "comm_type": 6,
         "comm_size": 4096, "involved_dim": [true, false], "comm_priority": 9}]})"),
              from_protobuf());
}

TEST(JsonReader, ProtobufMappingMakesTheSameGraph) {
    const std::string first = R"({"id": "1", "name": "c", "type": "COMP_NODE",
        "durationMicros": "3", "attr": [{"name": "num_ops", "int64Val": "10"},
        {"uint64_val": "20", "name": "tensor_size"}]})";
    const std::string second = R"({"id": "2", "name": "ar", "type": "COMM_COLL_NODE",
        "dataDeps": ["1"], "attr": [{"name": "comm_type", "int64Val": "6"},
        {"name": "comm_size", "int64Val": "4096"}, {"name": "comm_priority", "doubleVal": 9.0},
        {"name": "involved_dim", "boolList": {"values": [true, false]}}]})";
    const std::string version = R"({"version": "0.0.4"})";
    EXPECT_EQ(graph_of(version + "\n" + first + "\n" + second + "\n"), from_protobuf());
    EXPECT_EQ(graph_of("[" + version + "," + first + "," + second + "]"), from_protobuf());
    EXPECT_EQ(graph_of("\xef\xbb\xbf {\"nodes\": [" + first + "," + second + "]}"),
              from_protobuf());
}

TEST(JsonReader, KeepsFractionsOfMicroseconds) {
    const ExecutionGraph graph = graph_of(
        R"([{"id": 1, "name": "a", "type": "COMP", "runtime": 0.4},
            {"id": 2, "name": "b", "type": "COMP", "duration_micros": 1.000001}])");
    EXPECT_THAT(graph.duration_ps, ElementsAre(400'000U, 1'000'001U));
}

TEST(JsonReader, NamesTheNode) {
    EXPECT_THAT(
        complaint(R"([{"comm_size": -5, "id": 4, "name": "x", "type": 7, "comm_type": 0}])"),
        HasSubstr("rank 0, node 4 (x): attribute comm_size: -5 is not a whole number"));
    EXPECT_THAT(complaint(R"([{"id": 4, "type": 7, "comm_type": 0, "comm_size": "12"}])"),
                HasSubstr("attribute comm_size has the type string ('12'); an integer"));
    EXPECT_THAT(complaint(R"([{"id": 4, "type": 7, "comm_type": "NOISE", "comm_size": 1}])"),
                HasSubstr("comm_type"));
    EXPECT_THAT(complaint(R"([{"id": 4, "type": "NOISE"}])"), HasSubstr("node type 'NOISE'"));
    EXPECT_THAT(complaint(R"([{"id": -4, "type": 4}])"), HasSubstr("id is not a whole number"));
    EXPECT_THAT(complaint(R"([{"id": 4, "type": 7, "comm_type": 0, "comm_size": 1,
                               "involved_dim": ["x"]}])"),
                HasSubstr("involved_dim"));
}

TEST(JsonReader, NamesTheLine) {
    EXPECT_THAT(complaint("[\n{\"id\": 1,\n \"type\": 4,,\n}]"), HasSubstr("t.0.et:3: "));
    EXPECT_THAT(complaint("{\"id\": 1, \"type\": 4}\n\n{\"id\": }"), HasSubstr("t.0.et:3: "));
}

TEST(JsonReader, UnknownVersion) {
    Warnings warnings;
    load_bytes(R"({"version": "9.9"}{"id": 1, "name": "a", "type": 4})", warnings);
    EXPECT_THAT(warnings.texts(), ElementsAre(HasSubstr("'9.9' is unknown")));
}

}  // namespace
}  // namespace astra::test
