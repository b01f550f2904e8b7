// Wrong inputs: the exit status, and what the message says.
#include <functional>
#include <ostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/validation/case_check.h"

namespace astra::test {
namespace {

struct BadInput {
    const char* name;
    std::function<void(Experiment&, Arguments&)> spoil;
    int status;
    std::vector<std::string> parts;
};

std::ostream& operator<<(std::ostream& out, const BadInput& row) {
    return out << row.name;
}

void replace(Experiment& experiment,
             const char* file,
             std::string text,
             const std::string& from,
             const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    experiment.files[file] = text.replace(at, from.size(), to);
}
void in_system(Experiment& experiment, const std::string& from, const std::string& to) {
    replace(experiment, "system.json", system_json(experiment), from, to);
}
void in_network(Experiment& experiment, const std::string& from, const std::string& to) {
    replace(experiment, "network.yml", network_yaml(experiment), from, to);
}
void option(Arguments& arguments, const char* text) {
    arguments.emplace_back(text);
}

using E = Experiment;
using A = Arguments;

const std::vector<BadInput> kFiles = {
    {"MisspeltSystemKey",
     [](E& e, A&) { in_system(e, "endpoint-delay", "endpoint-dely"); },
     2,
     {"system.json", "endpoint-dely", "endpoint-delay"}},
    {"MisspeltNetworkKey",
     [](E& e, A&) { in_network(e, "latency", "latancy"); },
     2,
     {"network.yml", "latancy", "latency"}},
    {"NoChunks",
     [](E& e, A&) {
         in_system(e, "\"preferred-dataset-splits\": 1", "\"preferred-dataset-splits\": 0");
     },
     2,
     {"system.json", "preferred-dataset-splits"}},
    {"NoActiveChunks",
     [](E& e, A&) {
         in_system(e, "\"active-chunks-per-dimension\": 1", "\"active-chunks-per-dimension\": 0");
     },
     2,
     {"system.json", "active-chunks-per-dimension"}},
    {"TooManyAlgorithms",
     [](E& e, A&) { in_system(e, "[\"ring\"]", "[\"ring\", \"ring\"]"); },
     2,
     {"system.json", "all-reduce-implementation", "2", "1"}},
    {"UnknownAlgorithm",
     [](E& e, A&) { e.algorithms = {"halfingDoubling"}; },
     2,
     {"halfingDoubling", "halvingDoubling"}},
    {"AlgorithmOfAnotherSize",
     [](E& e, A&) {
         e.dimensions = {ring(6)};
         e.algorithms = {"halvingDoubling"};
         e.traces = everywhere(6, {collective(1, CollectiveKind::ReduceScatter, kMiB)});
     },
     2,
     {"halvingDoubling", "reduce_scatter", "6 ranks", "power of two"}},
    {"SharedBus",
     [](E& e, A&) { in_system(e, "{", "{\"model-shared-bus\": 1,"); },
     2,
     {"system.json", "model-shared-bus"}},
    {"SystemIsNotJson",
     [](E& e, A&) { e.files["system.json"] = "{\"endpoint-delay\": "; },
     2,
     {"system.json"}},
    {"UnknownTopology",
     [](E& e, A&) { in_network(e, "Ring", "Rink"); },
     2,
     {"network.yml", "Rink", "Ring"}},
    {"NegativeBandwidth",
     [](E& e, A&) { in_network(e, "[50]", "[-50]"); },
     2,
     {"network.yml", "bandwidth", "-50"}},
    {"NoBandwidth",
     [](E& e, A&) { in_network(e, "[50]", "[0]"); },
     2,
     {"network.yml", "bandwidth"}},
    {"BandwidthIsAWord",
     [](E& e, A&) { in_network(e, "[50]", "[tbd]"); },
     2,
     {"network.yml", "tbd"}},
    {"NoRanks", [](E& e, A&) { in_network(e, "[8]", "[0]"); }, 2, {"network.yml", "npus_count"}},
    {"UnknownScheduling", [](E& e, A&) { e.scheduling = "FIF"; }, 2, {"FIF", "FIFO"}},
    {"UnknownDimensionOrder",
     [](E& e, A&) { e.settings = {"system.dimension_order=temis"}; },
     2,
     {"--set system.dimension_order", "'temis'", "themis"}},
    {"UnknownChunkOrder",
     [](E& e, A&) { e.settings = {"system.chunk_order=smalest_first"}; },
     2,
     {"--set system.chunk_order", "'smalest_first'", "smallest_first"}},
    {"AlgorithmOfTheLastDimensionOnly",
     [](E& e, A&) {
         e.dimensions = {ring(2), ring(2)};
         e.algorithms = {"ring", "doubleBinaryTree"};
         e.settings = {"system.dimension_order=rotated"};
         e.traces = everywhere(4, {collective(1, CollectiveKind::AllReduce, kMiB)});
     },
     2,
     {"doubleBinaryTree", "reduce_scatter", "system.dimension_order 'rotated'"}},
    {"MemoryOpWithoutMemory",
     [](E& e, A&) { e.traces = everywhere(8, {memory_access(3, OpKind::MemoryLoad, 100)}); },
     2,
     {"rank 0", "node 3", "memory"}},
    {"UnknownMemory",
     [](E& e, A&) { e.memory = R"({"memory-type": "POOL"})"; },
     2,
     {"memory.json", "POOL"}},
};

const std::vector<BadInput> kTraces = {
    {"Cycle",
     [](E& e, A&) {
         e.traces[3] = {compute(1, 1, {2}), compute(2, 1, {1})};
     },
     2,
     {"trace.3.et", "rank 3", "cycle", "1 (compute) -> 2 (compute) -> 1"}},
    {"WaitsForItself",
     [](E& e, A&) { e.traces[3] = {compute(1, 1, {1})}; },
     2,
     {"rank 3", "node 1", "cycle"}},
    {"IdTwice",
     [](E& e, A&) {
         e.traces[3] = {compute(1, 1), compute(1, 1)};
     },
     2,
     {"rank 3", "node 1", "again"}},
    {"MissingRanks", [](E& e, A&) { e.traces.resize(5); }, 2, {"missing ranks 5-7"}},
    {"UndefinedGroup",
     [](E& e, A&) { e.traces[2] = {collective(4, CollectiveKind::AllReduce, 8, {}, "tp")}; },
     2,
     {"rank 2", "node 4", "'tp'"}},
    {"RankOutsideTheGroup",
     [](E& e, A&) {
         e.groups = {{"1", {0, 1}}};
         e.traces[2] = {collective(4, CollectiveKind::AllReduce, 8, {}, "1")};
     },
     2,
     {"rank 2", "node 4", "'1'"}},
    {"RankOfAGroupOutOfRange",
     [](E& e, A&) {
         e.groups = {{"1", {0, 1, 99}}};
         e.traces = everywhere(8, {collective(4, CollectiveKind::AllReduce, 8, {}, "1")});
     },
     2,
     {"groups.json", "99"}},
    {"DestinationOutOfRange",
     [](E& e, A&) { e.traces[1] = {send(6, 1, 8, 0, 8)}; },
     2,
     {"rank 1", "node 6", "comm_dst", "8", "0 to 7"}},
    {"TruncatedTrace",
     [](E& e, A&) { e.files["trace.4.et"] = std::string("\x07\x0a\x05", 3); },
     2,
     {"trace.4.et"}},
    {"NotATrace",
     [](E& e, A&) { e.files["trace.4.et"] = "hello, this is no trace at all"; },
     2,
     {"trace.4.et"}},
};

const std::vector<BadInput> kOptions = {
    {"UnknownOption", [](E&, A& a) { option(a, "--bakend=flow"); }, 2, {"--bakend", "--backend"}},
    {"UnknownBackend",
     [](E& e, A&) { e.backend = "congestion_awear"; },
     2,
     {"congestion_awear", "congestion_aware"}},
    {"CommScale", [](E&, A& a) { option(a, "--comm-scale=2"); }, 2, {"--comm-scale"}},
    {"ComputeScale", [](E&, A& a) { option(a, "--compute-scale=2"); }, 2, {"--compute-scale"}},
    {"SetWithoutValue",
     [](E&, A& a) { option(a, "--set=system.chunks"); },
     2,
     {"system.chunks", "="}},
    {"SetOfAnUnknownKey",
     [](E&, A& a) { option(a, "--set=system.chunk=2"); },
     2,
     {"chunk", "chunks"}},
    {"SetOfAWrongValue",
     [](E&, A& a) { option(a, "--set=system.chunks=many"); },
     2,
     {"chunks", "many"}},
    {"NoQueues",
     [](E&, A& a) { option(a, "--num-queues-per-dim=0"); },
     2,
     {"--num-queues-per-dim", "0"}},
    {"NegativeSeed",
     [](E&, A& a) { option(a, "--seed=-1"); },
     2,
     {"--seed: '-1' is not a whole number from 0 to 18446744073709551615"}},
    {"UntilTooLong",
     [](E&, A& a) { option(a, "--until=6000h"); },
     2,
     {"--until: '6000h' is longer than 2^64 ps"}},
    {"UntilWithoutUnit", [](E&, A& a) { option(a, "--until=5"); }, 2, {"--until", "5"}},
    {"Strict",
     [](E& e, A& a) {
         e.traces = everywhere(8, {compute(1, 1)});
         option(a, "--strict");
     },
     2,
     {"--strict", "no communication"}},
    {"Deadlock",
     [](E& e, A&) { e.traces[0] = {compute(1, 1)}; },
     3,
     {"deadlock", "missing: ranks 0", "7 of 8 ranks"}},
    {"TimeLimit",
     [](E&, A& a) { option(a, "--until=10us"); },
     3,
     {"limit of simulated time", "8 of 8 ranks", "collective 0"}},
    {"EventLimit",
     [](E&, A& a) { option(a, "--max-events=10"); },
     3,
     {"limit of events", "event 10", "8 of 8 ranks"}},
};

class InvalidInput : public testing::TestWithParam<BadInput> {};

TEST_P(InvalidInput, IsRefusedWithAReason) {
    Experiment experiment = r8_all_reduce();
    Arguments more;
    GetParam().spoil(experiment, more);
    const ProgramRun result = run_captured(experiment, more);
    EXPECT_EQ(result.status, GetParam().status) << result.error;
    EXPECT_THAT(result.error, testing::HasSubstr("astra: error: "));
    for (const std::string& part : GetParam().parts) {
        EXPECT_THAT(result.error, testing::HasSubstr(part));
    }
}

const auto kName = [](const auto& row) { return std::string(row.param.name); };
INSTANTIATE_TEST_SUITE_P(Files, InvalidInput, testing::ValuesIn(kFiles), kName);
INSTANTIATE_TEST_SUITE_P(Traces, InvalidInput, testing::ValuesIn(kTraces), kName);
INSTANTIATE_TEST_SUITE_P(Options, InvalidInput, testing::ValuesIn(kOptions), kName);

TEST(InvalidProgram, Arguments) {
    expect_failure(run_captured({"rum"}), 2, {"'rum'", "run"});
    expect_failure(run_captured({"run"}), 2, {"--workload-configuration is missing"});
    expect_failure(
        run_captured({"run", "there_is_no_such_study.yml"}), 2, {"there_is_no_such_study.yml"});
    EXPECT_EQ(run_captured(Arguments{}).status, 2);
    EXPECT_EQ(run_captured({"run", "--help"}).status, 0);
}

TEST(InvalidProgram, OutputBelowAFile) {
    const ScratchFolder folder;
    const std::string below = folder.write("file", "") + "/out";
    expect_failure(run_captured(r8_all_reduce(), {"--output", below}), 2, {below.c_str()});
}

std::string jobs_study(const char* first, const char* second) {
    return fmt::format(R"(
jobs:
  - {{name: a, ranks: [{}], workload: {{generate: {{kind: compute}}}}}}
  - {{name: b, ranks: [{}], workload: {{generate: {{kind: compute}}}}}}
network: {{dimensions: [{{topology: ring, ranks: 8, bandwidth: 50GB/s, latency: 500ns}}]}}
)",
                       first,
                       second);
}

TEST(InvalidStudy, RanksOfJobs) {
    const ScratchFolder folder;
    const auto run_jobs = [&](const char* first, const char* second) {
        return run_captured({"run", folder.write("study.yml", jobs_study(first, second))});
    };
    expect_failure(run_jobs("0-3", "3-7"), 2, {"study.yml:4", "rank 3", "'a'"});
    expect_failure(run_jobs("0-3", "4-8"), 2, {"study.yml:4", "4-8", "below 8"});
    expect_failure(run_jobs("3-0", "4-7"), 2, {"study.yml:3", "backwards"});
    expect_failure(run_jobs("0, 0", "4-7"), 2, {"study.yml:3", "twice"});
}

TEST(InvalidStudy, UnitIsMissing) {
    const ScratchFolder folder;
    std::string study = jobs_study("0-3", "4-7");
    study.replace(study.find("500ns"), 5, "500");
    expect_failure(run_captured({"run", folder.write("study.yml", study)}),
                   2,
                   {"study.yml:5", "latency", "500"});
}

}  // namespace
}  // namespace astra::test
