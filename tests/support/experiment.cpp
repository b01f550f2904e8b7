#include "tests/support/experiment.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "astra/config/astra_sim/astra_sim.h"
#include "astra/config/config_tree.h"
#include "workload/chakra/chakra_writer.h"

namespace astra::test {

namespace {

std::string algorithm_list(const Experiment& experiment) {
    std::vector<std::string> names = experiment.algorithms;
    const bool spans_all = names.size() == 1 && names.front().starts_with("one");
    while (!spans_all && names.size() < experiment.dimensions.size()) {
        names.push_back(names.back());
    }
    for (std::string& name : names) {
        name = fmt::format("\"{}\"", name);
    }
    return fmt::format("[{}]", fmt::join(names, ", "));
}

std::string groups_json(const Experiment& experiment) {
    std::vector<std::string> entries;
    for (const auto& [name, ranks] : experiment.groups) {
        entries.push_back(fmt::format("\"{}\": [{}]", name, fmt::join(ranks, ", ")));
    }
    return fmt::format("{{{}}}\n", fmt::join(entries, ", "));
}

TraceNode base_node(std::uint64_t id,
                    OpKind kind,
                    std::string name,
                    std::vector<std::uint64_t> parents) {
    TraceNode node;
    node.id = id;
    node.kind = kind;
    node.name = std::move(name);
    node.parents = std::move(parents);
    return node;
}

TraceNode point(OpKind kind,
                std::uint64_t id,
                std::uint32_t source,
                std::uint32_t destination,
                std::uint32_t tag,
                std::uint64_t bytes,
                std::vector<std::uint64_t> parents) {
    TraceNode node =
        base_node(id, kind, kind == OpKind::Send ? "send" : "receive", std::move(parents));
    node.source = source;
    node.destination = destination;
    node.tag = tag;
    node.comm_bytes = bytes;
    return node;
}

}  // namespace

ScratchFolder::ScratchFolder() {
    static std::atomic<unsigned> count{0};
    path_ =
        (std::filesystem::path(testing::TempDir()) / fmt::format("astra_{}_{}", getpid(), count++))
            .string();
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
}

ScratchFolder::~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string ScratchFolder::write(const std::string& name, std::string_view content) const {
    std::ofstream out(file(name), std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    return file(name);
}

TraceNode collective(std::uint64_t id,
                     CollectiveKind kind,
                     std::uint64_t bytes,
                     std::vector<std::uint64_t> parents,
                     std::string group) {
    TraceNode node = base_node(id, OpKind::Collective, name_of(kind), std::move(parents));
    node.collective = kind;
    if (kind != CollectiveKind::Barrier) {
        node.comm_bytes = bytes;
    }
    node.group = std::move(group);
    return node;
}

TraceNode compute(std::uint64_t id,
                  std::uint64_t microseconds,
                  std::vector<std::uint64_t> parents) {
    TraceNode node = base_node(id, OpKind::Compute, "compute", std::move(parents));
    node.duration_ps = microseconds * 1'000'000;
    return node;
}

TraceNode roofline_compute(std::uint64_t id,
                           std::uint64_t operations,
                           std::uint64_t bytes,
                           std::vector<std::uint64_t> parents) {
    TraceNode node = base_node(id, OpKind::Compute, "compute", std::move(parents));
    node.operations = operations;
    node.tensor_bytes = bytes;
    return node;
}

TraceNode send(std::uint64_t id,
               std::uint32_t source,
               std::uint32_t destination,
               std::uint32_t tag,
               std::uint64_t bytes,
               std::vector<std::uint64_t> parents) {
    return point(OpKind::Send, id, source, destination, tag, bytes, std::move(parents));
}

TraceNode receive(std::uint64_t id,
                  std::uint32_t source,
                  std::uint32_t destination,
                  std::uint32_t tag,
                  std::uint64_t bytes,
                  std::vector<std::uint64_t> parents) {
    return point(OpKind::Recv, id, source, destination, tag, bytes, std::move(parents));
}

TraceNode memory_access(std::uint64_t id,
                        OpKind kind,
                        std::uint64_t bytes,
                        std::vector<std::uint64_t> parents) {
    TraceNode node = base_node(id, kind, "memory", std::move(parents));
    node.tensor_bytes = bytes;
    return node;
}

std::vector<Trace> everywhere(std::uint32_t ranks, const Trace& trace) {
    return std::vector<Trace>(ranks, trace);
}

std::uint32_t Experiment::ranks() const {
    std::uint32_t product = 1;
    for (const NetworkDimension& dimension : dimensions) {
        product *= dimension.ranks;
    }
    return product;
}

Experiment& Experiment::network_only() {
    endpoint_delay_ns = 0;
    memory_bandwidth = 0;
    return *this;
}

std::string network_yaml(const Experiment& experiment) {
    std::vector<std::string> topologies;
    std::vector<std::string> sizes;
    std::vector<std::string> bandwidths;
    std::vector<std::string> latencies;
    for (const NetworkDimension& dimension : experiment.dimensions) {
        topologies.push_back(dimension.topology);
        sizes.push_back(std::to_string(dimension.ranks));
        bandwidths.push_back(std::to_string(dimension.bandwidth));
        latencies.push_back(
            fmt::format("{}.{:03}", dimension.latency_ps / 1000, dimension.latency_ps % 1000));
    }
    return fmt::format("topology: [{}]\nnpus_count: [{}]\nbandwidth: [{}]\nlatency: [{}]\n",
                       fmt::join(topologies, ", "),
                       fmt::join(sizes, ", "),
                       fmt::join(bandwidths, ", "),
                       fmt::join(latencies, ", "));
}

std::string system_json(const Experiment& experiment) {
    std::string text = fmt::format(
        "{{\n  \"scheduling-policy\": \"{}\",\n  \"endpoint-delay\": {},\n"
        "  \"active-chunks-per-dimension\": {},\n  \"preferred-dataset-splits\": {},\n"
        "  \"collective-optimization\": \"{}\",\n  \"roofline-enabled\": {},\n"
        "  \"replay-only\": {}",
        experiment.scheduling,
        experiment.endpoint_delay_ns,
        experiment.active_chunks,
        experiment.chunks,
        experiment.baseline ? "baseline" : "localBWAware",
        experiment.roofline ? 1 : 0,
        experiment.replay_only ? 1 : 0);
    if (experiment.memory_bandwidth > 0) {
        text += fmt::format(",\n  \"local-mem-bw\": {}", experiment.memory_bandwidth);
    }
    if (experiment.peak_tflops > 0) {
        text += fmt::format(",\n  \"peak-perf\": {}", experiment.peak_tflops);
    }
    if (!experiment.algorithms.empty()) {
        for (const char* kind : {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"}) {
            text += fmt::format(",\n  \"{}-implementation\": {}", kind, algorithm_list(experiment));
        }
    }
    return text + "\n}\n";
}

void write_files(const Experiment& experiment, const ScratchFolder& folder) {
    folder.write("network.yml", network_yaml(experiment));
    folder.write("system.json", system_json(experiment));
    folder.write("memory.json",
                 experiment.memory.empty() ? "{\"memory-type\": \"NO_MEMORY_EXPANSION\"}"
                                           : experiment.memory);
    folder.write("groups.json", groups_json(experiment));
    for (std::size_t rank = 0; rank < experiment.traces.size(); ++rank) {
        ChakraWriter writer(folder.file(fmt::format("trace.{}.et", rank)));
        for (const TraceNode& node : experiment.traces[rank]) {
            writer.add(node);
        }
        writer.close();
    }
    for (const auto& [name, content] : experiment.files) {
        folder.write(name, content);
    }
}

Arguments run_arguments(const Experiment& experiment, const ScratchFolder& folder) {
    Arguments arguments = {"run",
                           "--workload-configuration=" + folder.file("trace"),
                           "--system-configuration=" + folder.file("system.json"),
                           "--network-configuration=" + folder.file("network.yml"),
                           "--remote-memory-configuration=" + folder.file("memory.json"),
                           "--network-unit=" + experiment.network_unit,
                           "--backend=" + experiment.backend};
    if (!experiment.groups.empty()) {
        arguments.push_back("--comm-group-configuration=" + folder.file("groups.json"));
    }
    if (experiment.queues) {
        arguments.push_back(fmt::format("--num-queues-per-dim={}", *experiment.queues));
    }
    if (experiment.injection_scale) {
        arguments.push_back(fmt::format("--injection-scale={}", *experiment.injection_scale));
    }
    if (experiment.rendezvous) {
        arguments.emplace_back("--rendezvous-protocol=true");
    }
    for (const std::string& setting : experiment.settings) {
        arguments.push_back("--set=" + setting);
    }
    return arguments;
}

namespace {

Study read_experiment(const Experiment& experiment, const ScratchFolder& folder) {
    write_files(experiment, folder);
    AstraSimOptions options;
    options.workload_prefix = folder.file("trace");
    options.system_file = folder.file("system.json");
    options.network_file = folder.file("network.yml");
    options.memory_file = folder.file("memory.json");
    options.group_file = experiment.groups.empty() ? "" : folder.file("groups.json");
    options.queues_per_dimension = experiment.queues;
    options.injection_scale = experiment.injection_scale;
    options.rendezvous = experiment.rendezvous;
    options.network_unit = experiment.network_unit;
    Warnings warnings;
    Study study(translate_astra_sim(options, warnings));
    study.set("network.backend=" + experiment.backend);
    for (const std::string& setting : experiment.settings) {
        study.set(setting);
    }
    return study;
}

}  // namespace

RunResult run(const Experiment& experiment) {
    const ScratchFolder folder;
    Simulation simulation(read_experiment(experiment, folder));
    simulation.run({});
    return simulation.result();
}

RunResult run(const Experiment& experiment, SpanSubscriber& subscriber) {
    const ScratchFolder folder;
    Recording recording;
    recording.timeline = true;
    Simulation simulation(read_experiment(experiment, folder), recording);
    simulation.subscribe(subscriber);
    simulation.run({});
    return simulation.result();
}

RunResult run_recording_ops(const Experiment& experiment) {
    const ScratchFolder folder;
    Recording recording;
    recording.ops = true;
    Simulation simulation(read_experiment(experiment, folder), recording);
    simulation.run({});
    return simulation.result();
}

RunResult run_study(const std::string& yaml, const RunLimits& limits) {
    const ScratchFolder folder;
    Simulation simulation(Study::from_file(folder.write("study.yml", yaml)));
    simulation.run(limits);
    return simulation.result();
}

ProgramRun run_captured(const Arguments& arguments) {
    ProgramRun result;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    result.status = run_program(arguments);
    std::fflush(stdout);
    std::fflush(stderr);
    result.out = testing::internal::GetCapturedStdout();
    result.error = testing::internal::GetCapturedStderr();
    return result;
}

ProgramRun run_captured(const Experiment& experiment, const Arguments& more) {
    const ScratchFolder folder;
    write_files(experiment, folder);
    Arguments arguments = run_arguments(experiment, folder);
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_captured(arguments);
}

const RankRecord& rank_record(const RunResult& result, std::uint32_t rank) {
    const auto at = std::find_if(result.ranks.begin(), result.ranks.end(), [&](const auto& record) {
        return record.rank == RankId{rank};
    });
    EXPECT_NE(at, result.ranks.end()) << "rank " << rank << " is missing from the result";
    return at == result.ranks.end() ? result.ranks.front() : *at;
}

}  // namespace astra::test
