#include <gmock/gmock.h>

#include "tests/workload/trace_maker.h"
#include "workload/chakra/json_values.h"
#include "workload/nodes/node_assembler.h"

namespace astra::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

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

// proto3's JSON leaves out every field that has its default, an id of 0 too.
TEST(JsonReader, ProtobufMappingLeavesOutAnIdOfZero) {
    const ExecutionGraph graph = graph_of(
        R"([{"name": "c", "type": "COMP_NODE", "attr": [{"name": "num_ops", "int64Val": "10"}]},
            {"id": "2", "name": "d", "type": "COMP_NODE", "dataDeps": ["0"], "attr": []}])");
    EXPECT_EQ(graph.node_id, (std::vector<std::uint64_t>{0, 2}));
    EXPECT_EQ(graph.parent_count, (std::vector<std::uint32_t>{0, 1}));
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
    EXPECT_THAT(complaint("[\n{\"id\": 1,\n \"type\": 4,,\n}]"), HasSubstr("t.0.et:3:12: "));
    EXPECT_THAT(complaint("{\"id\": 1, \"type\": 4}\n\n{\"id\": }"), HasSubstr("t.0.et:3:8: "));
    EXPECT_THAT(complaint("[{\"id\": 1,\n\"runtime\": 1e400}]"),
                HasSubstr("t.0.et:2:17: the number 1e400 is out of range"));
    EXPECT_LT(complaint("[{\"id\": \"" + std::string(100'000, 'x')).size(), 500U);
}

TEST(JsonReader, DependenciesAreListsOfWholeNumbers) {
    EXPECT_THAT(graph_of(R"([{"id": 7, "type": 4}, {"id": 12, "type": 4, "data_deps": ["7"],
                              "ctrl_deps": null}])")
                    .parent_count,
                ElementsAre(0U, 1U));
    for (const char* value : {R"({"a": 1})",
                              "[[1]]",
                              "[1.5]",
                              R"(["x"])",
                              "[{}]",
                              "[-1]",
                              "[null]",
                              "[true]",
                              "1",
                              R"("1")"}) {
        for (const std::string key : {"data_deps", "ctrl_deps"}) {
            EXPECT_THAT(
                complaint("[\n{\"id\": 4, \"name\": \"x\", \"" + key + "\": " + value + "}]"),
                AllOf(HasSubstr("t.0.et:2:"),
                      HasSubstr(": rank 0, node 4 (x): '" + key +
                                "' is not a list of whole numbers of 0 or more")))
                << value;
        }
    }
}

TEST(JsonReader, NodesAreObjectsInOneList) {
    const auto refused = [](const std::string& text, const char* why) {
        EXPECT_THAT(complaint(text),
                    AllOf(HasSubstr("t.0.et:1:"), HasSubstr(why), Not(HasSubstr("node 0"))))
            << text;
    };
    for (const char* value : {"{}", "1", "null", R"("x")", R"({"id": 1})"}) {
        refused(std::string(R"({"workload_graph": )") + value + "}",
                "'workload_graph' is not a list of nodes");
    }
    refused(R"({"workload_graph": [1]})", "a list of nodes holds a single value");
    refused(R"({"workload_graph": [[]]})", "a list of nodes holds a list");
    refused("[[]]", "a list of nodes holds a list");
    refused(R"({"workload_graph": [{"id": 1, "type": 4}, 2]})", "holds a single value");
    refused(R"({"workload_graph": [], "workload_graph": []})", "second list");
    refused(R"({"workload_graph": [{"id": 1, "type": 4}], "workload_graph": []})", "second list");
    refused(R"({"workload_graph": [], "nodes": []})", "second list");
    refused(R"([{"workload_graph": []}])", "within a list of nodes");
    refused(R"([{"type": 4, "runtime": 1}])", "a node has no id");
    refused(R"([{"name": "x", "type": 4}])", "the node 'x' has no id");
    refused(R"([{"runtime": 1}])", "a node has no id");
    refused(R"([{}, {}])", "a node has no id");
    EXPECT_EQ(complaint(R"({"name": "w", "workload_graph": [{"id": 1, "name": "x", "type": 4}],
                            "name": "w"})"),
              "");
}

std::string complaint_of_node(const std::string& members) {
    return complaint(R"([{"id": 3, "name": "x", )" + members + "}]");
}

TEST(JsonReader, RefusesTheSameKeyTwice) {
    EXPECT_THAT(complaint_of_node(R"("Id": 3, "type": 4)"),
                HasSubstr("node 3 (x): the key 'id' is given twice"));
    EXPECT_THAT(complaint_of_node(R"("type": 4, "NodeType": 4)"), HasSubstr("the key 'type'"));
    EXPECT_THAT(complaint_of_node(R"("runtime": 1, "runtime": 1)"), HasSubstr("'runtime'"));
    EXPECT_THAT(complaint_of_node(R"("data_deps": [], "dataDeps": [])"), HasSubstr("'data_deps'"));
    EXPECT_EQ(complaint_of_node(R"("type": 4, "runtime": 1, "duration_micros": 1.0)"), "");
    EXPECT_THAT(complaint_of_node(R"("type": 4, "runtime": 1, "duration_micros": 2)"),
                HasSubstr("node 3 (x): attribute duration_micros or runtime is given twice with"));
    EXPECT_THAT(complaint_of_node(R"("num_ops": 1, "attr": [{"name": "num_ops", "int64Val": 2}])"),
                HasSubstr("attribute num_ops is given twice with different values"));
    EXPECT_THAT(complaint_of_node(R"("attr": [{"name": "a", "int64Val": 2, "boolVal": true}])"),
                HasSubstr("an attribute has two values"));
    EXPECT_THAT(complaint_of_node(R"("attr": [{"name": "a", "name": "b"}])"),
                HasSubstr("two names"));
}

TEST(JsonReader, RefusesMembersOfWrongShape) {
    EXPECT_THAT(complaint_of_node(R"("type": [4])"), HasSubstr("(x): its node type is neither"));
    EXPECT_THAT(complaint_of_node(R"("type": true)"), HasSubstr("its node type is neither"));
    EXPECT_THAT(complaint_of_node(R"("attr": {})"), HasSubstr("'attr' is not a list"));
    EXPECT_THAT(complaint_of_node(R"("attr": [1])"), HasSubstr("'attr' holds a single value"));
    EXPECT_THAT(complaint_of_node(R"("attr": [[]])"), HasSubstr("'attr' holds a list"));
    EXPECT_THAT(complaint(R"([{"id": [3]}])"), HasSubstr("id is not a whole number"));
    EXPECT_THAT(complaint(R"([{"name": {}}])"), HasSubstr("its name is not a string"));
    for (const char* flags : {R"("involved_dim": [true, {}])",
                              R"("involved_dim": [[true]])",
                              R"("attr": [{"name": "involved_dim", "boolList": [true]}])",
                              R"("attr": [{"name": "involved_dim", "boolList": {"values": 1}}])",
                              R"("attr": [{"name": "involved_dim", "boolVal": [true]}])"}) {
        EXPECT_THAT(complaint_of_node(R"("type": 7, "comm_type": 0, "comm_size": 1, )" +
                                      std::string(flags)),
                    HasSubstr("attribute involved_dim has the type"))
            << flags;
    }
}

TEST(JsonReader, UnknownVersion) {
    Warnings warnings;
    load_bytes(R"({"version": "9.9"}{"id": 1, "name": "a", "type": 4})", warnings);
    EXPECT_THAT(warnings.texts(), ElementsAre(HasSubstr("'9.9' is unknown")));
}

// A key with a letter too few would otherwise mean nothing: a dependency, a size or a duration
// would be gone without a word.
TEST(JsonReader, RefusesMisspeltKeys) {
    std::vector<std::string> names = {"name",
                                      "type",
                                      "NodeType",
                                      "ctrl_deps",
                                      "data_deps",
                                      "ctrlDeps",
                                      "dataDeps",
                                      "runtime",
                                      "inputs",
                                      "attr"};
    for (const std::string_view name : NodeAssembler::names()) {
        names.emplace_back(name);
    }
    for (const std::string& name : names) {
        if (name.size() < 4) {
            continue;  // "ts" without a letter is nothing
        }
        for (std::size_t i = 1; i < name.size(); ++i) {
            std::string misspelt = name;
            misspelt.erase(i, 1);
            // Some are keys of their own, as "event" of "event_id".
            if (NodeAssembler::is_known(canonical_key(misspelt)) || misspelt == name) {
                continue;
            }
            EXPECT_THAT(complaint("[{\"id\": 1, \"" + misspelt + "\": [1], \"x\": 1}]"),
                        AllOf(HasSubstr("rank 0, node 1 ()"),
                              HasSubstr("the key '" + misspelt + "' is unknown; did you mean '")))
                << name;
        }
    }
    EXPECT_THAT(
        complaint("[{\"id\": 1, \"type\": 4},\n {\"id\": 2, \"type\": 4, \"data_dep\": [1]}]"),
        AllOf(HasSubstr("t.0.et:2:32: "), HasSubstr("did you mean 'data_deps'?")));
    for (const char* key :
         {"dependencies", "deps", "parents", "children", "waits_for", "requires"}) {
        EXPECT_THAT(complaint(std::string("[{\"id\": 1, \"type\": 4, \"") + key + "\": [2]}]"),
                    HasSubstr(std::string("the key '") + key + "' is unknown; what a node waits"))
            << key;
    }
}

// What writers put on nodes beside that changes nothing, and is not said.
TEST(JsonReader, TakesTheAttributesOfWriters) {
    const std::string plain = R"([{"id": 1, "name": "c", "type": 4, "runtime": 3}])";
    const std::string full = R"([{"id": 1, "name": "c", "type": 4, "runtime": 3, "rf_id": 7,
        "fw_parent": 0, "seq_id": -1, "scope": 7, "tid": 1, "fw_tid": 0, "op_schema": "",
        "op_type": "E", "pid": 2, "cat": "cpu_op", "ts": 1.5, "start_time_micros": "12",
        "correlation": 4, "tensor_loc": 0, "outputs": {"values": "[]"},
        "inputs": {"values": "[]", "shapes": "[]", "types": "[]"}}])";
    EXPECT_EQ(graph_of(full), graph_of(plain));
}

TEST(JsonReader, SaysUnknownKeysOnce) {
    Warnings warnings;
    load_bytes(R"([{"id": 1, "type": 4, "colour": "red"}, {"id": 2, "type": 4, "colour": {"a": 1}},
                   {"id": 3, "type": 4, "shape": [2, 3]}])",
               warnings);
    EXPECT_THAT(warnings.texts(),
                ElementsAre(HasSubstr("the key 'colour' of a node is unknown and has no effect"),
                            HasSubstr("the key 'shape' of a node is unknown and has no effect")));
}

TEST(JsonReader, AttributesHaveNoOtherKeys) {
    const auto with = [](const std::string& attribute) {
        return "[{\"id\": 1, \"type\": 4, \"attr\": [" + attribute + "]}]";
    };
    EXPECT_EQ(complaint(with(R"({"name": "num_ops", "docString": "", "int64Val": "5"})")), "");
    EXPECT_EQ(complaint(with(R"({"name": "x", "sfixed32List": {"values": [1]}})")), "");
    EXPECT_THAT(
        complaint(with(R"({"name": "num_ops", "int64Va": "5"})")),
        HasSubstr("the key 'int64Va' of an attribute is unknown; did you mean 'int64_val'"));
    EXPECT_THAT(complaint(with(R"({"name": "num_ops", "value": 5})")),
                HasSubstr("the key 'value' of an attribute is unknown"));
    EXPECT_THAT(complaint(with(R"({"name": "x", "int64List": {"value": [1]}})")),
                HasSubstr("the key 'value' of a list is unknown; 'values' is expected"));
}

TEST(JsonReader, NodesHaveATypeAndFilesNodes) {
    for (const char* text : {R"([{"id": 1, "name": "x", "runtime": 5}])",
                             R"({"nodes": [{"name": "x", "id": 1, "rf_id": 1, "parent": 1}]})"}) {
        EXPECT_THAT(complaint(text), HasSubstr("node 1 (x): the node has no type")) << text;
    }
    for (const char* text : {R"({"hello": "world"})",
                             R"({"name": "w", "ngpus": 8})",
                             R"({"workload_grpah": [{"id": 1, "type": 4}]})",
                             "{\"version\": \"0.0.4\"}\n{\"hello\": 1}"}) {
        EXPECT_THAT(complaint(text), HasSubstr("is JSON, but no Chakra trace")) << text;
    }
    EXPECT_THAT(complaint(R"([{"hello": "world"}])"), HasSubstr("a node has no id"));
    // Protobuf's JSON leaves out the type INVALID.
    EXPECT_EQ(complaint(R"([{"id": "1", "name": "x", "attr": []}])"), "");
}

// 70 MB in a few kilobytes of gzip would be as bad as 2 GB; plain they show the same limit.
TEST(JsonReader, TokensAndGapsHaveALimit) {
    const std::string big(std::size_t{65} << 20U, ' ');
    for (const std::string& text : {"{\"version\":\"0.0.4\"}\n" + big + "{}",
                                    "[{\"id\": 1, \"type\": 4}, " + big + "]",
                                    "[{\"id\": 1, \"name\": \"" + big + "\"}]"}) {
        EXPECT_THAT(complaint(text), HasSubstr("a text, a number or a gap of more than 64 MiB"));
    }
}

}  // namespace
}  // namespace astra::test
