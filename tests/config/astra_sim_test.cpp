#include "astra/config/astra_sim/astra_sim.h"

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"

namespace astra {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class AstraSimTest : public testing::Test {
  protected:
    static std::string write(const std::string& name, const std::string& text) {
        const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
        std::string file = testing::TempDir() + "/astra_sim_" + test + "_" + name;
        std::ofstream(file, std::ios::binary) << text;
        return file;
    }

    void network(const std::string& text) { options_.network_file = write("net.yml", text); }
    void system(const std::string& text) { options_.system_file = write("sys.json", text); }
    void memory(const std::string& text) { options_.memory_file = write("mem.json", text); }

    void SetUp() override {
        options_.workload_prefix = "traces/run";
        network(kRing);
        system("{}");
    }

    std::string json() { return translate_astra_sim(options_, warnings_).effective_json(-1); }

    std::string error() {
        try {
            translate_astra_sim(options_, warnings_);
        } catch (const ConfigError& error) {
            return error.what();
        }
        return "no error";
    }

    static constexpr const char* kRing =
        "topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50.0 ]  # GB/s\n"
        "latency: [ 500.0 ]  # ns\n";
    static constexpr const char* kTwoDimensions =
        "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 100.0, 50.0 ]\n"
        "latency: [ 500.0, 700.0 ]\n";

    AstraSimOptions options_;
    Warnings warnings_;
};

TEST_F(AstraSimTest, TranslatesAWholeSystem) {
    system(R"({
  "scheduling-policy": "LIFO",
  "endpoint-delay": 10.5,
  "active-chunks-per-dimension": 2,
  "preferred-dataset-splits": 4,
  "all-reduce-implementation": ["ring"],
  "all-gather-implementation": ["direct2"],
  "reduce-scatter-implementation": ["halvingDoubling"],
  "all-to-all-implementation": ["oneDirect"],
  "collective-optimization": "baseline",
  "local-mem-bw": 1600.0,
  "roofline-enabled": 1,
  "replay-only": 0,
  "peak-perf": 900
})");
    memory(R"({"memory-type": "PER_NODE_MEMORY_EXPANSION", "remote-mem-latency": 10.7,
               "remote-mem-bw": 2.9, "num-nodes": 2, "num-npus-per-node": 4})");
    options_.group_file = "g/groups.json";
    options_.queues_per_dimension = 2;
    options_.injection_scale = 1.5;
    options_.rendezvous = true;
    EXPECT_EQ(
        json(),
        R"({"workload":{"trace":"traces/run","groups":"g/groups.json"},)"
        R"("system":{"host_threads":"one","queues":2,"injection_scale":1.5,)"
        R"("sends_in_order":false,"run_ahead":"unbounded","sends_end":"arrival","rendezvous":true,)"
        R"("scheduling":"lifo","all_reduce_shape":"baseline","endpoint_delay":"10.5ns",)"
        R"("active_chunks":2,"chunks":4,"local_memory_bandwidth":"1600GB/s",)"
        R"("peak":"900TFLOPS","roofline":true,"replay_only":false,)"
        R"("collectives":{"all_reduce":["ring"],"all_gather":["direct2"],)"
        R"("reduce_scatter":["halvingDoubling"],"all_to_all":["oneDirect"]}},)"
        R"("network":{"backend":"congestion_unaware",)"
        R"("dimensions":[{"topology":"ring","ranks":8,"bandwidth":"50GiB/s",)"
        R"("latency":"500ns"}]},)"
        R"("memory":{"kind":"per_node","latency":"10.7ns","bandwidth":"2.9GB/s",)"
        R"("ranks_per_node":4,"nodes":2}})");
    EXPECT_THAT(warnings_.texts(), IsEmpty());
}

TEST_F(AstraSimTest, AbsentKeysHaveTheirDefaults) {
    EXPECT_THAT(json(),
                AllOf(HasSubstr(R"("system":{"host_threads":"one","sends_in_order":false,)"
                                R"("run_ahead":"unbounded","sends_end":"arrival",)"
                                R"("scheduling":"fifo",)"
                                R"("all_reduce_shape":"local_bandwidth_aware",)"
                                R"("endpoint_delay":"10ns","active_chunks":1,"chunks":1})"),
                      HasSubstr(R"("memory":{"kind":"none"})")));
    EXPECT_THAT(warnings_.texts(), IsEmpty());
}

TEST_F(AstraSimTest, TranslatesEveryTopology) {
    network(
        "topology: [Ring, FullyConnected, Switch]\nnpus_count: [2, 4, 1]\n"
        "bandwidth: [200.0, 0.1, 5e1]\nlatency: [0, 936.25, 2e3]\n");
    EXPECT_THAT(
        json(),
        HasSubstr(R"({"topology":"ring","ranks":2,"bandwidth":"200GiB/s","latency":"0ns"},)"
                  R"({"topology":"fully_connected","ranks":4,"bandwidth":"0.1GiB/s",)"
                  R"("latency":"936.25ns"},)"
                  R"({"topology":"switch","ranks":1,"bandwidth":"50GiB/s","latency":"2000ns"})"));
    options_.network_unit = "GB";
    EXPECT_THAT(json(), HasSubstr(R"("bandwidth":"0.1GB/s")"));
    options_.network_unit = "GIB";
    EXPECT_EQ(error(), "--network-unit: 'GIB' is not one of GiB, GB; did you mean 'GiB'?");
}

TEST_F(AstraSimTest, ScalarsAreListsOfOne) {
    network("topology: Switch\nnpus_count: 8\nbandwidth: 400\nlatency: 936.2\n");
    EXPECT_THAT(json(),
                HasSubstr(R"([{"topology":"switch","ranks":8,"bandwidth":"400GiB/s",)"
                          R"("latency":"936.2ns"}])"));
}

TEST_F(AstraSimTest, PlacesPointIntoTheOriginalFile) {
    const ConfigTree study = translate_astra_sim(options_, warnings_);
    const ConfigView dimension = study.root().at("network").at("dimensions").items().at(0);
    EXPECT_EQ(dimension.at("latency").as_duration().ps, 500'000U);
    EXPECT_EQ(dimension.at("latency").where(), options_.network_file + ":4:12");
    const ConfigView trace = study.root().at("workload").at("trace");
    EXPECT_EQ(trace.where(), "command line");
    EXPECT_EQ(trace.as_file_name(), "traces/run");
}

TEST_F(AstraSimTest, NetworkErrors) {
    network("topology: [Ring, Ring]\nnpus_count: [4]\nbandwidth: [1, 1]\nlatency: [1, 1]\n");
    EXPECT_EQ(error(),
              options_.network_file +
                  ":2:13: npus_count: npus_count has 1 entry, topology has 2, bandwidth has 2, "
                  "latency has 2; an entry for each dimension is expected in every list");
    network("topology: [Rign]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [1]\n");
    EXPECT_EQ(error(),
              options_.network_file +
                  ":1:12: topology.0: 'Rign' is not one of Ring, Switch, FullyConnected; did you "
                  "mean 'Ring'?");
    network("topology: [Ring]\nnpus_count: [4]\nbandwith: [1]\nlatency: [1]\n");
    EXPECT_THAT(error(),
                EndsWith("the key 'bandwidth' is missing; is 'bandwith' a misspelling of it?"));
    network(std::string(kRing) + "latancy: [1]\n");
    EXPECT_EQ(
        error(),
        options_.network_file + ":5:1: latancy: unknown key 'latancy'; did you mean 'latency'?");
    network(
        "topology: [Ring, Ring]\nnpus_count: [8192, 4096]\nbandwidth: [1, 1]\n"
        "latency: [1, 1]\n");
    EXPECT_THAT(error(),
                HasSubstr(":2:13: npus_count: the product of the dimensions is more "
                          "than 1048576 ranks"));
    network("topology: []\nnpus_count: []\nbandwidth: []\nlatency: []\n");
    EXPECT_THAT(error(), HasSubstr("topology: is empty"));
}

TEST_F(AstraSimTest, NetworkNumbersAreChecked) {
    const auto with =
        [&](const std::string& count, const std::string& bandwidth, const std::string& latency) {
            network("topology: [Ring]\nnpus_count: [" + count + "]\nbandwidth: [" + bandwidth +
                    "]\nlatency: [" + latency + "]\n");
            return error();
        };
    EXPECT_EQ(with("1", "1", "0"), "no error");
    EXPECT_THAT(with("0", "1", "1"), HasSubstr(":2:14: npus_count.0: '0' is not valid"));
    EXPECT_THAT(with("-4", "1", "1"), HasSubstr("npus_count.0: '-4' is not valid"));
    EXPECT_THAT(with("2.5", "1", "1"), HasSubstr("npus_count.0: '2.5' is not valid"));
    EXPECT_THAT(with("4", "0", "1"), HasSubstr(":3:13: bandwidth.0: '0' is out of range"));
    EXPECT_THAT(with("4", "1e-20", "1"), HasSubstr("bandwidth.0: '1e-20' is out of range"));
    EXPECT_THAT(with("4", "1e300", "1"), HasSubstr("bandwidth.0: '1e300' is out of range"));
    EXPECT_THAT(with("4", "-1", "1"), HasSubstr("bandwidth.0: '-1' is negative"));
    EXPECT_THAT(with("4", ".inf", "1"), HasSubstr("bandwidth.0: '.inf' is not a number"));
    EXPECT_THAT(with("4", "tbd", "1"), HasSubstr("bandwidth.0: 'tbd' is not a number"));
    EXPECT_THAT(with("4", "1", "-1"), HasSubstr(":4:11: latency.0: '-1' is negative"));
    EXPECT_THAT(with("4", "1", "1e30"), HasSubstr("latency.0: '1e30' is out of range"));
}

TEST_F(AstraSimTest, AlgorithmListsFitTheDimensions) {
    network(kTwoDimensions);
    system(R"({"all-reduce-implementation": ["ring", "direct"]})");
    EXPECT_THAT(json(), HasSubstr(R"("collectives":{"all_reduce":["ring","direct"]}})"));
    system(R"({"all-reduce-implementation": ["oneRing"]})");
    EXPECT_THAT(json(), HasSubstr(R"("all_reduce":["oneRing"])"));
    system(R"({"all-reduce-implementation": ["ring"]})");
    EXPECT_THAT(error(),
                HasSubstr(":1:31: all-reduce-implementation: has 1 entry but the network has 2 "
                          "dimensions"));
    system(R"({"all-to-all-implementation": ["ring", "ring", "ring"]})");
    EXPECT_THAT(error(),
                HasSubstr("all-to-all-implementation: has 3 entries but the network has 2"));
    network(kRing);
    system(R"({"all-gather-implementation": "ring"})");
    EXPECT_THAT(json(), HasSubstr(R"("all_gather":["ring"])"));
}

TEST_F(AstraSimTest, UnknownSystemKeysAreErrors) {
    system("{\n  \"endpoint-delay\": 10,\n  \"prefered-dataset-splits\": 4\n}");
    EXPECT_EQ(error(),
              options_.system_file +
                  ":3:3: prefered-dataset-splits: unknown key 'prefered-dataset-splits'; did you "
                  "mean 'preferred-dataset-splits'?");
}

TEST_F(AstraSimTest, WrongSystemValuesAreErrors) {
    const auto with = [&](const std::string& text) {
        system(text);
        return error();
    };
    EXPECT_THAT(with(R"({"scheduling-policy": "FIF0"})"), EndsWith("did you mean 'FIFO'?"));
    EXPECT_THAT(with(R"({"scheduling-policy": 5})"), HasSubstr("'5' is not one of"));
    EXPECT_THAT(with(R"({"endpoint-delay": "10"})"), HasSubstr("is text in quotes"));
    EXPECT_THAT(with(R"({"endpoint-delay": -1})"), HasSubstr("'-1' is negative"));
    EXPECT_THAT(with(R"({"endpoint-delay": [1]})"), HasSubstr("is a list; a number"));
    EXPECT_THAT(with(R"({"active-chunks-per-dimension": 0})"), HasSubstr("'0' is not valid"));
    EXPECT_THAT(with(R"({"preferred-dataset-splits": 0})"), HasSubstr("'0' is not valid"));
    EXPECT_THAT(with(R"({"preferred-dataset-splits": null})"), HasSubstr("has no value"));
    EXPECT_THAT(with(R"({"collective-optimization": "localbwaware"})"),
                EndsWith("did you mean 'localBWAware'?"));
    EXPECT_THAT(with(R"({"roofline-enabled": 2})"), HasSubstr("true or false"));
    EXPECT_THAT(with(R"({"local-mem-bw": -1})"), HasSubstr("is negative"));
    EXPECT_THAT(with(R"({"peak-perf": 1e300})"), HasSubstr("out of range"));
    EXPECT_THAT(with(R"({"endpoint-delay": 1, "endpoint-delay": 2})"),
                HasSubstr("'endpoint-delay' was given before, at line 1"));
    EXPECT_THAT(with("[1]"), HasSubstr("is a list; a map of keys is expected"));
}

TEST_F(AstraSimTest, RooflineNeedsTheHardware) {
    system(R"({"roofline-enabled": 1, "local-mem-bw": 50})");
    EXPECT_THAT(error(),
                HasSubstr(":1:22: roofline-enabled: needs peak-perf and local-mem-bw; peak-perf "
                          "is missing or 0"));
    system(R"({"roofline-enabled": true, "peak-perf": 50, "local-mem-bw": 0})");
    EXPECT_THAT(error(), HasSubstr("local-mem-bw is missing or 0"));
    system(R"({"roofline-enabled": 0, "local-mem-bw": 0})");
    EXPECT_THAT(json(), AllOf(HasSubstr(R"("roofline":false)"), Not(HasSubstr("local_memory"))));
}

TEST_F(AstraSimTest, KeysWithoutEffectAreWarnings) {
    system("{\"boost-mode\": 0, \"L\": 5,\n\"trace-enabled\": 1, \"track-local-mem\": 0}");
    json();
    EXPECT_THAT(
        warnings_.texts(),
        ElementsAre(
            EndsWith("sys.json:1:16: boost-mode has no effect (ASTRA-sim ignores it too)"),
            EndsWith(":1:24: L has no effect (ASTRA-sim uses it only with model-shared-bus)"),
            HasSubstr(":2:18: trace-enabled has no effect")));
}

TEST_F(AstraSimTest, OrdersOfDimensionsAndChunksTakeEffect) {
    system(R"({"inter-dimension-scheduling": "baseline", "intra-dimension-scheduling": "FIFO"})");
    EXPECT_THAT(json(),
                AllOf(HasSubstr(R"("dimension_order":"ascending")"),
                      HasSubstr(R"("chunk_order":"priority")")));
    EXPECT_THAT(warnings_.texts(), IsEmpty());
    system(R"({"inter-dimension-scheduling": "themis", "intra-dimension-scheduling": "SCF"})");
    EXPECT_THAT(json(),
                AllOf(HasSubstr(R"("dimension_order":"themis")"),
                      HasSubstr(R"("chunk_order":["priority","smallest_first"])")));
    EXPECT_THAT(warnings_.texts(),
                ElementsAre(HasSubstr("inter-dimension-scheduling 'themis' takes effect here"),
                            HasSubstr("intra-dimension-scheduling 'SCF' takes effect here")));
}

TEST_F(AstraSimTest, OrdersThatAreNotThereHaveNoEffect) {
    system(R"({"inter-dimension-scheduling": "onlineGreedy", "intra-dimension-scheduling": "RG"})");
    json();
    EXPECT_THAT(warnings_.texts(),
                ElementsAre(HasSubstr("inter-dimension-scheduling has no effect"),
                            HasSubstr("intra-dimension-scheduling has no effect")));
}

TEST_F(AstraSimTest, RefusesWhatItCannotSimulate) {
    system(R"({"model-shared-bus": 1})");
    EXPECT_THAT(error(),
                HasSubstr(":1:22: model-shared-bus: is not supported: its LogGP bus uses "
                          "undocumented constants"));
    system(R"({"model-shared-bus": 0})");
    EXPECT_EQ(error(), "no error");
    EXPECT_THAT(warnings_.texts(), IsEmpty());
}

TEST_F(AstraSimTest, TranslatesCustomCollectives) {
    system(R"({"all-reduce-implementation": ["ring"],
               "all-reduce-implementation-custom": ["mine/ring"],
               "per-node-custom-implementation": "nodes.yml"})");
    EXPECT_THAT(json(), HasSubstr(R"("all_reduce":{"file":"mine/ring"})"));
    EXPECT_THAT(json(), HasSubstr(R"("nodes":"nodes.yml")"));
    system(R"({"all-reduce-implementation-custom": ["a", "b"]})");
    EXPECT_THAT(error(),
                HasSubstr("all-reduce-implementation-custom: has 2 entries; a list of exactly one "
                          "prefix of Chakra files is expected"));
}

TEST_F(AstraSimTest, TranslatesEveryMemory) {
    memory(R"({"memory-type": "NO_MEMORY_EXPANSION"})");
    EXPECT_THAT(json(), EndsWith(R"("memory":{"kind":"none"}})"));
    memory(R"({"memory-type": "PER_NPU_MEMORY_EXPANSION", "remote-mem-latency": 1000,
               "remote-mem-bw": 100})");
    EXPECT_THAT(json(),
                EndsWith(R"({"kind":"per_rank","latency":"1000ns","bandwidth":"100GB/s"}})"));
    memory(R"({"memory-type": "MEMORY_POOL", "remote-mem-latency": 1000, "remote-mem-bw": 100})");
    EXPECT_THAT(json(), HasSubstr(R"("kind":"pool")"));
    EXPECT_THAT(warnings_.texts(), IsEmpty());
}

TEST_F(AstraSimTest, MemoryErrorsAndWarnings) {
    memory("{}");
    EXPECT_THAT(error(), HasSubstr("the key 'memory-type' is missing"));
    memory(R"({"memory-type": "MEMORY_POL"})");
    EXPECT_THAT(error(), EndsWith("did you mean 'MEMORY_POOL'?"));
    memory(R"({"memory-type": "MEMORY_POOL", "remote-mem-latency": 1})");
    EXPECT_THAT(error(), HasSubstr("the key 'remote-mem-bw' is missing"));
    memory(R"({"memory-type": "MEMORY_POOL", "remote-mem-latency": 1, "remote-mem-bw": 0})");
    EXPECT_THAT(error(), HasSubstr("remote-mem-bw: '0' is out of range"));
    memory(R"({"memory-type": "PER_NODE_MEMORY_EXPANSION", "remote-mem-latency": 1,
               "remote-mem-bw": 1, "num-nodes": 2})");
    EXPECT_THAT(error(), HasSubstr("the key 'num-npus-per-node' is missing"));
    EXPECT_THAT(warnings_.texts(), IsEmpty());
    memory(R"({"memory-type": "NO_MEMORY_EXPANSION", "remote-mem-bw": 0})");
    EXPECT_EQ(error(), "no error");
    EXPECT_THAT(warnings_.texts(),
                ElementsAre(EndsWith("remote-mem-bw has no effect with NO_MEMORY_EXPANSION")));
}

TEST_F(AstraSimTest, OptionsAreChecked) {
    options_.group_file = "some/empty.json";
    EXPECT_THAT(json(), StartsWith(R"({"workload":{"trace":"traces/run"},)"));
    options_.queues_per_dimension = 0;
    EXPECT_THAT(error(), StartsWith("--num-queues-per-dim: "));
    options_.queues_per_dimension.reset();
    options_.injection_scale = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(error(), StartsWith("--injection-scale: "));
    options_.injection_scale.reset();
    options_.system_file = "no_such_system.json";
    EXPECT_EQ(error(), "no_such_system.json: cannot be read: No such file or directory");
    options_.system_file.clear();
    EXPECT_THAT(error(), StartsWith("--system-configuration: "));
    options_.workload_prefix.clear();
    EXPECT_THAT(error(), StartsWith("--workload-configuration: "));
}

}  // namespace
}  // namespace astra
