// Files of other formats where one of ours is expected, through the program: exit status 2, what
// the file is, and the way on.
#include <string>

#include <gtest/gtest.h>

#include "tests/support/experiment.h"
#include "tests/validation/case_check.h"

namespace astra::test {
namespace {

constexpr const char* kStudy =
    "network:\n  dimensions:\n"
    "    - {topology: switch, ranks: 2, bandwidth: 400Gbps, latency: 500ns}\n";
constexpr const char* kNetwork =
    "topology: [ Ring ]\nnpus_count: [ 2 ]\nbandwidth: [ 50.0 ]\n"
    "latency: [ 500.0 ]\n";
constexpr const char* kSystem = R"({"scheduling-policy": "LIFO", "endpoint-delay": 10})";

struct Foreign {
    const char* text;
    const char* what;
    const char* way_on;
};

const std::vector<Foreign>& foreign_files() {
    static const std::vector<Foreign> all = {
        {"8 0 8\n0 1 400Gbps 0.001ms 0\n", "a physical topology of ns-3", "`custom`"},
        {"Nodes 8\nTiers 2\nPodsize 8\n", "a topology of htsim", "`custom`"},
        {"Nodes 8\nConnections 2\n0->1 id 1 start 0 size 2\n", "connection matrix", "a flow set"},
        {"num_ranks 2\nrank 0 {\nl1: send 1024b to 1 tag 0\n}\n", "a GOAL schedule", "flow set"},
        {R"({"dimensions-count": 1, "topologies-per-dim": ["Ring"], "links-count": [2]})",
         "ASTRA-sim 1.0 (JSON)",
         "npus_count"},
        {"DATA\n1\nlayer0\t-1\t1000\tNONE\t0\n", "a text workload", "chakra_converter Text"},
        {R"({"schema": "1.0.1", "nodes": [{"name": "aten::mm", "id": 2, "rf_id": 1}]})",
         "a host trace of PyTorch",
         "chakra_trace_link"},
        {R"({"schemaVersion": 1, "traceEvents": [{"ph": "X", "name": "gemm"}]})",
         "a Kineto (Chrome) trace",
         "chakra_trace_link"},
        {"instances:\n  - {name: a}\nedges:\n  - {name: b}\n", "an InfraGraph", "dimensions"},
        {"<!DOCTYPE html>\n<html></html>\n", "a web page", "raw"}};
    return all;
}

TEST(ForeignFiles, AreNamedWhereverTheyAreGiven) {
    for (const Foreign& file : foreign_files()) {
        const ScratchFolder folder;
        const std::string foreign = folder.write("x.json", file.text);
        const std::string study = folder.write("study.yml", kStudy);
        const std::string network = "--network-configuration=" + folder.write("net.yml", kNetwork);
        const std::string system = "--system-configuration=" + folder.write("sys.json", kSystem);
        folder.write("t.0.json", file.text);
        folder.write("t.1.json", file.text);
        folder.write("c.0.et", file.text);
        const std::string traces = "--workload-configuration=" + folder.file("t");
        for (const Arguments& arguments : std::vector<Arguments>{
                 {"run", foreign},
                 {"run", study, "--flows=" + foreign},
                 {"run", study, "--set", "workload.trace=" + folder.file("t")},
                 {"run", traces, system, network},
                 {"run", "--workload-configuration=" + foreign, system, network},
                 {"run", traces, "--system-configuration=" + foreign, network},
                 {"run", traces, system, "--network-configuration=" + foreign},
                 {"run", traces, system, network, "--remote-memory-configuration=" + foreign},
                 {"run", traces, system, network, "--comm-group-configuration=" + foreign},
                 {"inspect", "trace", folder.file("t")},
                 {"inspect", "network", foreign},
                 {"collective", foreign},
                 {"collective", study, "--algorithm=" + foreign},
                 {"collective", study, "--algorithm=" + folder.file("c")},
                 {"convert", foreign, "--to=chakra", "--output=" + folder.file("o")},
                 {"convert", folder.file("t"), "--to=chakra", "--output=" + folder.file("o")}}) {
            const ProgramRun run = run_captured(arguments);
            expect_failure(run, 2, {"this is ", file.what, file.way_on});
            if (testing::Test::HasFailure()) {
                FAIL() << arguments[1] << " " << arguments.back();
            }
        }
    }
}

TEST(ForeignFiles, OptionsOfOtherBuilds) {
    expect_failure(run_captured({"run", "--logical-topology-configuration=x.json"}),
                   2,
                   {"--logical-topology-configuration", "ns-3 and htsim", "network.dimensions"});
}

// The commonest slip of all: a file in place of the prefix.
TEST(ForeignFiles, ATraceInPlaceOfItsPrefix) {
    const ScratchFolder folder;
    const Arguments rest = {"--system-configuration=" + folder.write("sys.json", kSystem),
                            "--network-configuration=" + folder.write("net.yml", kNetwork)};
    const std::string file = folder.write("t.0.et", std::string("\x07\x0a\x05", 3) + "0.0.4");
    Arguments arguments = {"run", "--workload-configuration=" + file};
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    const std::string prefix = "here " + folder.file("t");
    expect_failure(run_captured(arguments), 2, {"is a file", prefix.c_str()});
}

}  // namespace
}  // namespace astra::test
