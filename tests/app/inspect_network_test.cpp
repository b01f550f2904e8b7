// `astra inspect network` through the program: what it prints, refuses and draws.
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/experiment.h"

namespace astra::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string study(const std::string& dimensions, const std::string& more = "") {
    return "network:\n  dimensions:\n    - {" + dimensions + "}\n" + more;
}

const char* const kLeafSpine =
    "topology: leaf_spine, ranks: 16, hosts_per_leaf: 4, bandwidth: 400Gbps, latency: 500ns, "
    "oversubscription: 2";

std::string content(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::size_t count(const std::string& text, const std::string& pattern) {
    const std::regex regex(pattern);
    return static_cast<std::size_t>(
        std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
}

// 4 leaves and 2 spines; 2·16 + 2·8 links. Ways: 3 ranks of the leaf by one, 12 by two:
// (3·1 + 12·2) / 15 = 1.8; distance (3·2 + 12·4) / 15 = 3.6. Half: 2 leaves with 2 uplinks each,
// 1600 of 3200 Gbps.
TEST(InspectNetwork, DescribesAFabric) {
    const ScratchFolder folder;
    const std::string file = folder.write(
        "study.yml", study(kLeafSpine) + "workload: {anything: [1, {deep: 2}]}\nmemory:\n");
    const ProgramRun run = run_captured({"inspect", "network", file});
    EXPECT_EQ(run.status, 0) << run.error;
    EXPECT_THAT(run.out, HasSubstr("ranks            16\n"));
    EXPECT_THAT(run.out, HasSubstr("switches         6\n"));
    EXPECT_THAT(run.out, HasSubstr("links            48, one direction each\n"));
    EXPECT_THAT(run.out, HasSubstr("48 of 50 GB/s, 500 ns\n"));
    EXPECT_THAT(run.out, HasSubstr("pairs            240 with a path\n"));
    EXPECT_THAT(run.out, HasSubstr("diameter         4 links; mean distance 3.6 links\n"));
    EXPECT_THAT(run.out, HasSubstr("longest path     2 us,"));
    EXPECT_THAT(run.out, HasSubstr("shortest paths   1 to 2 a pair, 1.8 on average"));
    EXPECT_THAT(run.out,
                HasSubstr("bisection        1600 Gbps (200 GB/s): maximum flow from ranks "
                          "0-7 to 8-15\n"));
    EXPECT_THAT(run.out, HasSubstr("0.5 of full bisection: the first half injects 3200 Gbps"));
    EXPECT_THAT(run.out, HasSubstr("cut pairs        none\n"));
    EXPECT_THAT(run.out, Not(HasSubstr("dimension order")));
    EXPECT_EQ(run_captured({"inspect", "network", file}).out, run.out);
}

// 4 x 4: corner to corner C(4, 2) = 6 paths, one in dimension order.
TEST(InspectNetwork, ReadsAstraSimAndOverrides) {
    const ScratchFolder folder;
    const std::string file = folder.write(
        "network.yml",
        "topology: [Ring, Ring]\nnpus_count: [4, 2]\nbandwidth: [50, 50]\nlatency: [500, 500]\n");
    const ProgramRun run = run_captured({"inspect",
                                         "network",
                                         "--network-configuration=" + file,
                                         "--network-unit=GB",
                                         "--set=network.dimensions.1.ranks=4"});
    EXPECT_EQ(run.status, 0) << run.error;
    EXPECT_THAT(run.out, HasSubstr("ranks            16\n"));
    EXPECT_THAT(run.out, HasSubstr("64 of 50 GB/s, 500 ns\n"));
    EXPECT_THAT(run.out, HasSubstr("shortest paths   1 to 6 a pair"));
    EXPECT_THAT(run.out, HasSubstr("dimension order  1 to 1 a pair"));
}

TEST(InspectNetwork, ACutFabricIsDescribedAndRefused) {
    const ScratchFolder folder;
    const std::string file = folder.write("study.yml",
                                          study("topology: line, ranks: 4, bandwidth: 1GB/s",
                                                "  links:\n    - {from: 1, to: 2, down: true}\n"));
    const ProgramRun run = run_captured({"inspect", "network", file});
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.out, HasSubstr("links            6, one direction each; 2 are down\n"));
    EXPECT_THAT(run.out, HasSubstr("pairs            4 with a path\n"));
    EXPECT_THAT(run.out, HasSubstr("cut pairs        8: "));
    EXPECT_THAT(run.out, HasSubstr(" 2 -> 0,"));
    EXPECT_THAT(run.error, HasSubstr("study.yml:5"));
    EXPECT_THAT(run.error, HasSubstr("no path from rank"));
}

TEST(InspectNetwork, WarnsAsARunDoes) {
    const ScratchFolder folder;
    const std::string file = folder.write("study.yml", study(kLeafSpine));
    const ProgramRun run = run_captured({"inspect",
                                         "network",
                                         file,
                                         "--set=network.backend=packet",
                                         "--set=network.flow.rate_cap=1Gbps",
                                         "--set=network.packet.swift.beta=0.5",
                                         "--set=network.dimensions.0.oversubscription=1.01"});
    EXPECT_EQ(run.status, 0) << run.error;
    EXPECT_THAT(
        run.error,
        HasSubstr("astra: warning: network.flow.rate_cap: no effect: the backend is packet\n"));
    EXPECT_THAT(run.error, HasSubstr("network.packet.swift.beta: no effect: the transport is"));
    EXPECT_THAT(run.error, HasSubstr("network.dimensions.0.oversubscription: no effect"));
}

TEST(InspectNetwork, RefusesBadInput) {
    const ScratchFolder folder;
    struct Bad {
        const char* text;
        const char* part;
    };
    for (const Bad& bad : {
             Bad{"network: {dimensons: []}", "'dimensons' a misspelling"},
             Bad{"netwrok: {dimensions: []}", "'netwrok' a misspelling"},
             Bad{"network:\n  rooting: ecmp\n  dimensions: [{topology: ring, ranks: 4, bandwidth: "
                 "1GB/s}]",
                 "study.yml:2:3: network.rooting: unknown key 'rooting'; did you mean 'routing'?"},
             Bad{"network:\n  dimensions: [{topology: ring, ranks: 4, bandwith: 1GB/s, bandwidth: "
                 "1GB/s}]",
                 "unknown key 'bandwith'"},
             Bad{"network:\n  routing: spray\n  backend: congestion_unaware\n"
                 "  dimensions: [{topology: ring, ranks: 4, bandwidth: 1GB/s}]",
                 "spray needs the backend flow"},
             Bad{"network: {dimensions: [{topology: custom, file: none.yml}]}", "none.yml"},
             Bad{"network: {backend: flaw, dimensions: [{topology: ring, ranks: 4, bandwidth: "
                 "1GB/s}]}",
                 "'flow'"},
             Bad{"[]", "a map of keys"},
         }) {
        const ProgramRun run =
            run_captured({"inspect", "network", folder.write("study.yml", bad.text)});
        EXPECT_EQ(run.status, 2) << bad.text;
        EXPECT_THAT(run.error, HasSubstr(bad.part));
        EXPECT_EQ(run.out, "") << bad.text;
    }
}

TEST(InspectNetwork, RefusesBadArguments) {
    const ScratchFolder folder;
    const std::string file = folder.write("study.yml", study(kLeafSpine));
    const auto error = [](const Arguments& arguments) {
        const ProgramRun run = run_captured(arguments);
        EXPECT_EQ(run.status, 2);
        EXPECT_EQ(run.out, "");
        return run.error;
    };
    EXPECT_THAT(error({"inspect", "network"}), HasSubstr("needs one study file"));
    EXPECT_THAT(error({"inspect", "network", file, file}), HasSubstr("needs one study file"));
    EXPECT_THAT(error({"inspect", "network", folder.file("none.yml")}), HasSubstr("none.yml"));
    EXPECT_THAT(error({"inspect", "network", file, "--grafviz=x"}), HasSubstr("--graphviz"));
    EXPECT_THAT(error({"inspect", "network", file, "--network-unit=GB"}),
                HasSubstr("goes with --network-configuration"));
    EXPECT_THAT(error({"inspect", "network", file, "--graphviz=" + file + "/x.dot"}),
                HasSubstr("cannot write"));
    EXPECT_THAT(error({"inspect", "network", file, "--graphviz=" + folder.path() + "/"}),
                HasSubstr("name of a file"));
    EXPECT_THAT(error({"inspect", "--ranks=2", "network", file}), HasSubstr("before the options"));
    EXPECT_THAT(error({"inspect", "netwok", file}), HasSubstr("did you mean 'network'?"));
}

// 16 + 6 nodes; 16 edges to hosts and 4·2 to spines, each with two heads.
TEST(InspectNetwork, DrawsNodesAndEdges) {
    const ScratchFolder folder;
    const std::string file = folder.write("study.yml", study(kLeafSpine));
    const std::string drawing = folder.file("new/fabric.dot");
    ASSERT_EQ(run_captured({"inspect", "network", file, "--graphviz=" + drawing}).status, 0);
    const std::string text = content(drawing);
    EXPECT_EQ(text.substr(0, 17), "digraph fabric {\n");
    EXPECT_EQ(text.substr(text.size() - 2), "}\n");
    EXPECT_EQ(count(text, R"(\n  n\d+ \[shape=box, label="\d+"\];)"), 16U);
    EXPECT_EQ(count(text, R"re(\n  n\d+ \[shape=ellipse, label="(leaf|spine)\d"\];)re"), 6U);
    EXPECT_EQ(count(text, R"(\n  n\d+ -> n\d+ \[dir=both, label="50 GB/s, 500 ns"\];)"), 24U);
    EXPECT_EQ(count(text, "\n"), 2U + 22 + 24);
}

// Two links each way a-s, one of another latency each way s-b, one more b to s; down: s-c.
TEST(InspectNetwork, DrawsParallelUnequalAndBrokenLinks) {
    const ScratchFolder folder;
    folder.write("graph.yml",
                 "hosts: [a, b, c]\nswitches: ['s\"\\']\nbandwidth: 1GB/s\nlinks:\n"
                 "  - {from: a, to: 's\"\\', count: 2}\n"
                 "  - {from: b, to: 's\"\\', latency: 1us}\n"
                 "  - {from: b, to: 's\"\\', latency: 1us, direction: one}\n"
                 "  - {from: c, to: 's\"\\'}\n");
    const std::string file = folder.write("study.yml",
                                          study("topology: custom, file: graph.yml",
                                                "  links: [{from: 2, to: 's\"\\', down: true}]\n"));
    const std::string drawing = folder.file("fabric.dot");
    EXPECT_EQ(run_captured({"inspect", "network", file, "--graphviz=" + drawing}).status, 2);
    EXPECT_EQ(content(drawing),
              "digraph fabric {\n"
              "  n0 [shape=box, label=\"0\"];\n"
              "  n1 [shape=box, label=\"1\"];\n"
              "  n2 [shape=box, label=\"2\"];\n"
              "  n3 [shape=ellipse, label=\"s\\\"\\\\\"];\n"
              "  n0 -> n3 [dir=both, label=\"2 x 1 GB/s, 0 ps\"];\n"
              "  n1 -> n3 [dir=both, label=\"1 GB/s, 1 us\"];\n"
              "  n1 -> n3 [dir=forward, label=\"1 GB/s, 1 us\"];\n"
              "  n2 -> n3 [dir=both, label=\"1 GB/s, 0 ps\", style=dashed];\n"
              "}\n");
}

// 143 · 142 = 20,306 links.
TEST(InspectNetwork, RefusesToDrawWhatNobodyCanRead) {
    const ScratchFolder folder;
    const std::string file =
        folder.write("study.yml", study("topology: fully_connected, ranks: 143, bandwidth: 1GB/s"));
    const std::string drawing = folder.file("fabric.dot");
    const ProgramRun run = run_captured({"inspect", "network", file, "--graphviz=" + drawing});
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.error, HasSubstr("20306 links"));
    EXPECT_FALSE(std::ifstream(drawing).good());
}

TEST(InspectNetwork, HasHelp) {
    const ProgramRun run = run_captured({"inspect", "network", "--help"});
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.out, HasSubstr("--graphviz"));
    EXPECT_THAT(run_captured({"inspect", "--help"}).out, HasSubstr("inspect network STUDY.yml"));
}

}  // namespace
}  // namespace astra::test
