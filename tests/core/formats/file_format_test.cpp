// Files are known by what is in them, not by their names.
#include "astra/core/formats/file_format.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/core/formats/key_outline.h"
#include "tests/support/source_folder.h"

namespace astra {
namespace {

using testing::HasSubstr;

constexpr std::array<FilePurpose, 8> kPurposes = {FilePurpose::Trace,
                                                  FilePurpose::CustomCollective,
                                                  FilePurpose::Flows,
                                                  FilePurpose::Study,
                                                  FilePurpose::Network,
                                                  FilePurpose::System,
                                                  FilePurpose::Memory,
                                                  FilePurpose::Settings};

std::string tar_of(const std::string& name) {
    std::string block(512, '\0');
    block.replace(0, name.size(), name);
    return block.replace(257, 5, "ustar");
}

// One of each format, small, as their own programs write them.
const std::multimap<FileFormat, std::string>& samples() {
    using F = FileFormat;
    static const std::multimap<FileFormat, std::string> all = {
        {F::ChakraTrace,
         std::string("\x07\x0a\x05", 3) + "0.0.4" + std::string("\x05\x08\x01\x18\x04\x12", 6)},
        {F::ChakraTrace,
         std::string("\x06\x08\x01\x12\x02", 5) + "ab" + std::string("\x18\x04", 2)},
        {F::ChakraJson, R"({"workload_name": "w", "workload_graph": [{"Id": 1, "NodeType": 4}]})"},
        {F::ChakraJson, R"({"nodes": [{"id": 1, "name": "x", "type": 4}]})"},
        {F::ChakraJson, R"([{"version": "0.0.4"}, {"id": "1", "name": "x", "type": "COMP_NODE"}])"},
        {F::ChakraJson, "{\"version\": \"0.0.4\"}\n{\"id\": \"1\", \"type\": 4, \"attr\": []}\n"},
        {F::MscclAlgorithm,
         "<?xml version=\"1.0\"?>\n<!-- by hand -->\n<algo name=\"a\" ngpus=\"2\">"},
        {F::Study, "network:\n  dimensions: []\nworkload:\n  trace: t\n"},
        {F::Study, R"({"network": {"topology": 1, "npus_count": 2}, "jobs": []})"},
        {F::AstraSimNetwork, "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]\n"},
        {F::AstraSimSystem, R"({"scheduling-policy": "LIFO", "endpoint-delay": 10})"},
        {F::AstraSimMemory, R"({"memory-type": "NO_MEMORY_EXPANSION"})"},
        {F::KinetoTrace, R"({"schemaVersion": 1, "traceEvents": [{"ph": "X"}]})"},
        {F::KinetoTrace, R"([{"ph": "X", "name": "gemm", "ts": 1.0, "args": {"stream": 7}}])"},
        {F::PytorchHostTrace,
         R"({"schema": "1.0.1", "pid": 1, "nodes": [{"name": "aten::mm", "id": 2, "rf_id": 1}]})"},
        {F::PytorchHostTrace,
         R"({"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 2, "name": "x", "ctrl_deps": 1,
             "inputs": {"values": []}, "attrs": [{"name": "rf_id", "type": "uint64"}]}]})"},
        {F::PytorchLinkedTrace,
         R"({"schema": "1.0.2-chakra.0.0.4", "nodes": [{"id": 2, "name": "x", "ctrl_deps": 1},
             {"id": 3, "name": "gemm", "cat": "kernel", "exclusive_dur": 5, "stream": 7}]})"},
        {F::TextWorkload, "DATA\n1\nlayer0\t-1\t1000\tNONE\t0\n"},
        {F::TextWorkload, "HYBRID_DLRM 3\n2\n"},
        {F::TextWorkload,
         "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 1 0\n5\n"},
        {F::SimaiWorkload,
         "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 1 vpp: 1 ga: "
         "4\n9\n"},
        {F::LogicalTopology, R"({"logical-dims": ["8", "2"]})"},
        {F::AstraSim1Network, R"({"dimensions-count": 1, "topologies-per-dim": ["Ring"]})"},
        {F::Ns3Topology, "8 0 8\n0 1 400Gbps 0.001ms 0\n"},
        {F::Ns3Topology, "5 1 4\n4\n0 4 100.0Gbps 0.0005ms 0.000000\n"},
        {F::Ns3Topology, "24 8 1 1 32 A100\n16 17 18\n0 16 2400Gbps 0.000025ms 0\n"},
        {F::Ns3Flows, "2\n0 1 3 100 2000000 0\n2 3 3 100 2000000 0.1\n"},
        {F::Ns3Configuration, "ENABLE_QCN 1\nUSE_DYNAMIC_PFC_THRESHOLD 1\n"},
        {F::Ns3Configuration, "CC_MODE 1\nTOPOLOGY_FILE topo.txt\n"},
        {F::MscclppPlan,
         R"({"name": "ring", "collective": "allreduce", "gpus": [{"id": 0, "inputChunks": 2}]})"},
        {F::HtsimTopology, "# a fat tree\nNodes 8\nTiers 2\nPodsize 8\n\nTier 0\n"},
        {F::HtsimConnections, "Nodes 8\nConnections 2\n0->1 id 1 start 0 size 2000000\n"},
        {F::GoalSchedule, "num_ranks 2\nrank 0 {\nl1: send 1024b to 1 tag 0\n}\n"},
        {F::InfraGraph, "name: x\ninstances:\n  - name: host\ndevices:\n  - name: dgx\n"},
        {F::InfraGraph, R"({"name": "x", "instances": [], "edges": []})"},
        {F::NcclTopology, "<system version=\"1\">\n  <cpu numaid=\"0\">"},
        {F::OtherXml, "<svg xmlns=\"http://www.w3.org/2000/svg\">"},
        {F::SqliteDatabase, std::string("SQLite format 3\0\x10", 17)},
        {F::TarArchive, tar_of("t.0.et")},
        {F::ZipArchive, std::string("PK\x03\x04\x14", 5)},
        {F::CompressedData, std::string("\x1f\x8b\x08", 3)},
        {F::LfsPointer, "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"},
        {F::WebPage, "\n<!DOCTYPE html>\n<html>"},
        {F::WebPage, "<HTML><body>"},
        {F::PdfDocument, "%PDF-1.7\n"},
        {F::ExecutableFile,
         std::string("\x7f"
                     "ELF\x02\x01",
                     6)}};
    return all;
}

TEST(FileFormat, EachIsKnownByASample) {
    for (const auto& [format, text] : samples()) {
        EXPECT_EQ(format_of(text), format) << text;
    }
    EXPECT_EQ(format_of("\xef\xbb\xbf"
                        "DATA\n1\n"),
              FileFormat::TextWorkload);
    for (const FormatInfo& info : format_infos()) {
        EXPECT_TRUE(samples().contains(info.format)) << info.what;
        EXPECT_EQ(&format_info(info.format), &info);
        EXPECT_FALSE(info.way_on.empty()) << info.what;
    }
}

// What a place does not read is said by its name, with the way on; what it reads is not refused.
TEST(FileFormat, RefusalsNameTheFormatAndTheWayOn) {
    for (const auto& [format, text] : samples()) {
        for (const FilePurpose purpose : kPurposes) {
            const std::string refusal = format_refusal(text, purpose);
            if (is_read_as(format, purpose)) {
                EXPECT_EQ(refusal, "") << text;
                continue;
            }
            EXPECT_THAT(refusal, HasSubstr("this is " + std::string(format_info(format).what)));
            EXPECT_THAT(refusal, HasSubstr(std::string(format_info(format).way_on)));
        }
    }
    for (const FilePurpose purpose : kPurposes) {
        EXPECT_EQ(format_refusal("", purpose), "");
        EXPECT_EQ(format_refusal(R"({"hello": "world"})", purpose), "");
        EXPECT_EQ(format_refusal("what is this\n1 2 3\n", purpose), "");
        EXPECT_EQ(format_refusal("1 0 1 2000000 0\n2 1 2 2000000 1 5us\n", purpose), "");
        EXPECT_EQ(format_refusal(R"({"0": [0, 1], "1": [2, 3]})", purpose), "");
        EXPECT_EQ(format_refusal(std::string(70'000, '{'), purpose), "");
        EXPECT_EQ(format_refusal(std::string(70'000, '"'), purpose), "");
        EXPECT_EQ(format_refusal_of_file("/nowhere/at/all", purpose), "");
    }
}

// A file may end anywhere: what is left is the same or unknown, or the format that it was up to
// there.
TEST(FileFormat, BeginningsAreTheSameOrLess) {
    const std::map<FileFormat, FileFormat> before = {
        {FileFormat::PytorchLinkedTrace, FileFormat::PytorchHostTrace},
        {FileFormat::SimaiWorkload, FileFormat::TextWorkload},
        {FileFormat::MscclAlgorithm, FileFormat::OtherXml},
        {FileFormat::NcclTopology, FileFormat::OtherXml},
        {FileFormat::WebPage, FileFormat::OtherXml}};
    for (const auto& [format, text] : samples()) {
        const auto less = before.find(format);
        for (std::size_t size = 0; size < text.size(); ++size) {
            const FileFormat cut = format_of(std::string_view(text).substr(0, size));
            EXPECT_TRUE(cut == format || cut == FileFormat::Unknown ||
                        (less != before.end() && cut == less->second))
                << text.substr(0, size);
        }
    }
}

// What comes with the program is never taken for something else.
TEST(FileFormat, ShippedStudiesAreStudies) {
    std::size_t studies = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(test::source_file("inputs"))) {
        if (entry.path().extension() == ".yml" &&
            entry.path().parent_path().filename() != "astra-sim") {
            EXPECT_EQ(format_refusal_of_file(entry.path().string(), FilePurpose::Study), "")
                << entry.path();
            ++studies;
        }
    }
    EXPECT_GT(studies, 10U);
}

TEST(FileFormat, TheDocumentNamesThemAll) {
    std::ifstream in(test::source_file("docs/formats.md"));
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    for (const FormatInfo& info : format_infos()) {
        EXPECT_THAT(text, HasSubstr(std::string(info.what)));
    }
}

TEST(KeyOutline, FindsTheKeysOfTheOutermostMapAndOfItems) {
    const KeyOutline json =
        key_outline(R"( {"a": {"b": 1}, "list": [{"c": "d:", "e": [{"f": 1}]}, {"g": 2}], "h")");
    EXPECT_TRUE(json.is_json);
    EXPECT_FALSE(json.is_list);
    EXPECT_THAT(json.keys, testing::UnorderedElementsAre("a", "list"));
    EXPECT_THAT(json.item_keys, testing::UnorderedElementsAre("c", "e", "g"));
    const KeyOutline yaml = key_outline("# x: y\na: 1\n'b': [2]\nlist:\n  - c: 1\n    d: 2\nno\n");
    EXPECT_THAT(yaml.keys, testing::UnorderedElementsAre("a", "b", "list"));
    EXPECT_THAT(yaml.item_keys, testing::UnorderedElementsAre("c", "d"));
}

}  // namespace
}  // namespace astra
