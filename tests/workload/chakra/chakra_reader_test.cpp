#include <bit>

#include <gmock/gmock.h>

#include "tests/workload/trace_maker.h"

namespace astra::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string coll(const std::string& rest) {
    return metadata("0.0.4") + node(1, "ar", Coll, {}, int64_attribute("comm_type", 0) + rest);
}

std::string point(NodeType type, const std::string& rest) {
    return metadata("0.0.4") + node(5, "p2p", type, {}, rest);
}

TEST(ChakraReader, TakesEveryIntegerType) {
    const std::vector<std::string> values = {
        number_field(7, 4096),
        number_field(9, 4096),
        number_field(11, 4096),
        number_field(13, 4096),
        number_field(15, 8192),  // zigzag
        number_field(17, 8192),
        fixed_field(19, std::uint32_t{4096}),
        fixed_field(21, std::uint64_t{4096}),
        fixed_field(23, std::int32_t{4096}),
        fixed_field(25, std::int64_t{4096}),
        fixed_field(3, 4096.0),
        fixed_field(5, 4096.0F),
    };
    for (const std::string& value : values) {
        Warnings warnings;
        const Workload workload = load_bytes(coll(attribute("comm_size", value)), warnings);
        EXPECT_EQ(workload.ranks[0].graph->collectives[0].bytes.count, 4096U);
        EXPECT_THAT(warnings.texts(), IsEmpty());
    }
}

TEST(ChakraReader, RefusesValuesThatAreNoSize) {
    EXPECT_THAT(complaint(coll(int64_attribute("comm_size", -5))),
                HasSubstr("rank 0, node 1 (ar): attribute comm_size: -5 is not a whole number of 0 "
                          "or more"));
    EXPECT_THAT(complaint(coll(attribute("comm_size", fixed_field(3, 2.5)))),
                HasSubstr("attribute comm_size: 2.5 is not a whole number of 0 or more"));
    EXPECT_THAT(
        complaint(coll(text_attribute("comm_size", "12"))),
        HasSubstr("attribute comm_size has the type string ('12'); an integer is expected"));
    EXPECT_THAT(complaint(coll(attribute("comm_size", number_field(9, 1) + fixed_field(3, 1e300)))),
                HasSubstr("comm_size"));
}

TEST(ChakraReader, NamesMissingAttributes) {
    EXPECT_THAT(complaint(coll("")), HasSubstr("node 1 (ar): attribute comm_size is missing"));
    EXPECT_THAT(complaint(coll(attribute("comm_size", ""))), HasSubstr("comm_size is missing"));
    EXPECT_THAT(complaint(point(Coll, int64_attribute("comm_size", 1))),
                HasSubstr("attribute comm_type is missing"));
    EXPECT_THAT(complaint(point(Coll, int64_attribute("comm_type", 10))),
                HasSubstr("attribute comm_type: 10 is no collective"));
    const std::string size = int64_attribute("comm_size", 1);
    const std::string tag = int64_attribute("comm_tag", 1);
    const std::string to = int64_attribute("comm_dst", 1);
    const std::string from = int64_attribute("comm_src", 1);
    EXPECT_THAT(complaint(point(Send, size + tag), 2), HasSubstr("comm_dst is missing"));
    EXPECT_THAT(complaint(point(Send, size + to), 2), HasSubstr("comm_tag is missing"));
    EXPECT_THAT(complaint(point(Send, tag + to), 2), HasSubstr("comm_size is missing"));
    EXPECT_THAT(complaint(point(Recv, size + tag), 2), HasSubstr("comm_src is missing"));
    EXPECT_THAT(complaint(point(Load, "")), HasSubstr("tensor_size is missing"));
    EXPECT_EQ(complaint(point(Send, size + tag + to + int64_attribute("comm_type", 5)), 2), "");
    EXPECT_THAT(complaint(point(Send, size + tag + to + from), 2),
                HasSubstr("attribute comm_src: 1 is not the rank of the trace, 0"));
}

TEST(ChakraReader, RefusesWildcardsAndForeignPeers) {
    const std::string size = int64_attribute("comm_size", 1);
    EXPECT_THAT(
        complaint(
            point(Recv, size + int64_attribute("comm_src", -1) + int64_attribute("comm_tag", 0)),
            2),
        HasSubstr("node 5 (p2p): attribute comm_src is -1: match-any is not supported"));
    EXPECT_THAT(complaint(point(Recv,
                                size + int64_attribute("comm_src", 1) +
                                    attribute("comm_tag", number_field(7, ~std::uint64_t{0}))),
                          2),
                HasSubstr("attribute comm_tag is -1: match-any is not supported"));
    EXPECT_THAT(
        complaint(
            point(Send, size + int64_attribute("comm_dst", 77) + int64_attribute("comm_tag", 0)),
            4),
        HasSubstr("attribute comm_dst: 77 is not a rank of the job; its ranks are 0 to 3"));
}

TEST(ChakraReader, BarrierNeedsNoSize) {
    Warnings warnings;
    const Workload workload =
        load_bytes(node(1, "b", Coll, {}, int64_attribute("comm_type", 9)), warnings);
    EXPECT_EQ(workload.ranks[0].graph->collectives[0].kind, CollectiveKind::Barrier);
    EXPECT_EQ(workload.ranks[0].graph->collectives[0].bytes.count, 0U);
}

TEST(ChakraReader, ReadsInvolvedDimensions) {
    const auto dimensions = [](const std::string& attribute_bytes) {
        Warnings warnings;
        return load_bytes(all_reduce(1, attribute_bytes), warnings).ranks[0].graph->collectives[0];
    };
    EXPECT_EQ(dimensions(flags_attribute("involved_dim", {false, true})).dimensions, 2U);
    EXPECT_EQ(dimensions(attribute("involved_dim", text_field(10, text_field(1, "\1")))).dimensions,
              1U);
    EXPECT_FALSE(dimensions(flags_attribute("involved_dim", {})).has_dimensions);
    EXPECT_FALSE(dimensions(attribute("involved_dim", "")).has_dimensions);
    EXPECT_THAT(complaint(all_reduce(1, flags_attribute("involved_dim", {false, false}))),
                HasSubstr("involved_dim has no true"));
    EXPECT_THAT(complaint(all_reduce(1, text_attribute("involved_dim", "x"))),
                HasSubstr("attribute involved_dim has the type string; a list of booleans"));
    EXPECT_THAT(
        complaint(all_reduce(1, attribute("involved_dim", text_field(10, text_field(1, "\5"))))),
        HasSubstr("attribute involved_dim has the type int64_list"));
}

TEST(ChakraReader, WarnsOfCommunicationOnTheCpuOnce) {
    Warnings warnings;
    const std::string on_cpu = attribute("is_cpu_op", number_field(27, 1));
    const Workload workload = load_bytes(
        all_reduce(1, on_cpu) + all_reduce(2, on_cpu) + node(3, "c", Comp, {}, on_cpu), warnings);
    EXPECT_THAT(warnings.texts(),
                ElementsAre(AllOf(HasSubstr("is_cpu_op is true on 2"), HasSubstr("node 1 (ar)"))));
    EXPECT_THAT(workload.ranks[0].graph->on_cpu, ElementsAre(0, 0, 1));
}

TEST(ChakraReader, MultipliesByTheSizeOfAnElement) {
    Warnings warnings;
    const std::uint64_t large = std::uint64_t{1} << 40U;
    const std::string trace = coll(int64_attribute("comm_size", std::int64_t{1} << 40));
    EXPECT_EQ(load_bytes(trace, warnings, 1, 4).ranks[0].graph->collectives[0].bytes.count,
              4 * large);
    EXPECT_THAT(complaint(trace, 1, std::uint64_t{1} << 24U), HasSubstr("more than 2^63 bytes"));
}

TEST(ChakraReader, KeepsDurationsAndRefusesThoseTooLong) {
    Warnings warnings;
    const Workload workload =
        load_bytes(node(1, "c", Comp, {}, number_field(7, 3)) +
                       node(2, "d", Comp, {}, attribute("runtime", fixed_field(3, 0.4))) +
                       node(3, "e", Comp, {}),
                   warnings);
    EXPECT_THAT(workload.ranks[0].graph->duration_ps, ElementsAre(3'000'000U, 400'000U, 0U));
    EXPECT_THAT(complaint(node(1, "c", Comp, {}, number_field(7, 9'223'372'036'855ULL))),
                HasSubstr("duration of 9223372036855 us"));
    EXPECT_EQ(complaint(node(1, "c", Comp, {}, number_field(7, 9'223'372'036'854ULL))), "");
}

TEST(ChakraReader, RefusesContradictions) {
    const std::string size = int64_attribute("comm_size", 5);
    EXPECT_EQ(complaint(coll(size + attribute("comm_size", fixed_field(3, 5.0)))), "");
    EXPECT_THAT(complaint(coll(size + int64_attribute("comm_size", 6))),
                HasSubstr("node 1 (ar): attribute comm_size is given twice with different values"));
    EXPECT_THAT(complaint(coll(size + int64_attribute("comm_size", -5))), HasSubstr("twice"));
    EXPECT_THAT(complaint(coll(size + text_attribute("comm_size", "5"))), HasSubstr("twice"));
    EXPECT_THAT(complaint(coll(size + flags_attribute("involved_dim", {true}) +
                               flags_attribute("involved_dim", {false}))),
                HasSubstr("attribute involved_dim is given twice"));
    EXPECT_EQ(complaint(coll(size + attribute("comm_size", ""))), "");
    EXPECT_THAT(
        complaint(
            node(1, "c", Comp, {}, number_field(7, 3) + attribute("runtime", fixed_field(3, 0.4)))),
        HasSubstr("attribute duration_micros or runtime is given twice with different values"));
}

TEST(ChakraReader, KnowsVersions) {
    for (const char* version : {"", "0.0.4", "1.0.2-chakra.1.0.0", "symbolic_tensor_network"}) {
        Warnings warnings;
        load_bytes(metadata(version) + all_reduce(1), warnings);
        EXPECT_THAT(warnings.texts(), IsEmpty()) << version;
    }
    Warnings warnings;
    const std::string schema = text_field(2, text_field(1, "schema") + text_field(29, "9.9"));
    load_bytes(varint(schema.size()) + schema + all_reduce(1), warnings);
    EXPECT_THAT(warnings.texts(), ElementsAre(HasSubstr("schema version '9.9' is unknown")));
    EXPECT_THAT(complaint(metadata("0.0.1") + all_reduce(1)), HasSubstr("0.0.1"));
    EXPECT_EQ(complaint(std::string(1, '\0') + all_reduce(1)), "");
    EXPECT_EQ(complaint(all_reduce(0)), "");
    EXPECT_THAT(complaint(node(1, "old", Comp, {}, text_field(13, "x"))), HasSubstr("0.0.1"));
}

TEST(ChakraReader, ReportsDamagedFiles) {
    EXPECT_THAT(complaint(""), HasSubstr("the file is empty"));
    EXPECT_THAT(complaint(metadata("0.0.4") + varint(std::uint64_t{1} << 40U) + "x"),
                HasSubstr("record 2 at byte 8: claims 1099511627776 bytes, at most 64 MiB"));
    EXPECT_THAT(complaint(metadata("0.0.4") + varint(50'000'000) + "abc"),
                HasSubstr("record 2 at byte 8: claims 50000000 bytes, but the file ends after 3"));
    EXPECT_THAT(complaint(std::string(12, '\xff')), HasSubstr("record 1 at byte 0"));
    EXPECT_THAT(complaint(node(1, "x", static_cast<NodeType>(9))),
                HasSubstr("node type 9 is unknown"));
}

TEST(ChakraReader, HandlesMetadataAndInvalidNodes) {
    Warnings warnings;
    const Workload workload = load_bytes(
        node(1, "m", Metadata) + node(2, "i", Invalid, {1}) + node(3, "c", Comp, {2}), warnings);
    const ExecutionGraph& graph = *workload.ranks[0].graph;
    EXPECT_THAT(graph.kind, ElementsAre(OpKind::Metadata, OpKind::Invalid, OpKind::Compute));
    EXPECT_THAT(graph.child, ElementsAre(1U, 2U));
}

TEST(ChakraReader, TakesNumbersAsGroupNames) {
    EXPECT_THAT(complaint(all_reduce(1, int64_attribute("pg_name", 7))),
                HasSubstr("group '7' is not defined"));
    EXPECT_EQ(complaint(all_reduce(1, int64_attribute("pg_name", 0))), "");
    EXPECT_THAT(complaint(all_reduce(1, attribute("pg_name", number_field(27, 1)))),
                HasSubstr("attribute pg_name has the type bool; a string is expected"));
}

}  // namespace
}  // namespace astra::test
