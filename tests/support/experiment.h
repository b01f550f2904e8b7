// Experiments for tests: writes ASTRA-sim's own input files and Chakra traces below the test's
// folder and runs them in this process, or through the whole program.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "astra/app/command.h"
#include "astra/simulation/run_result.h"
#include "astra/simulation/simulation.h"
#include "workload/graph/graph_builder.h"

namespace astra::test {

// A folder of its own for each instance; gone afterwards.
class ScratchFolder {
  public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::string& path() const { return path_; }
    std::string file(const std::string& name) const { return path_ + "/" + name; }
    std::string write(const std::string& name, std::string_view content) const;

  private:
    std::string path_;
};

struct NetworkDimension {
    std::string topology = "Ring";
    std::uint32_t ranks = 8;
    std::uint64_t bandwidth = 50;  // bytes a second, in units of Experiment::network_unit
    std::uint64_t latency_ps = 500'000;
};

// One rank's trace.
using Trace = std::vector<TraceNode>;

TraceNode collective(std::uint64_t id,
                     CollectiveKind kind,
                     std::uint64_t bytes,
                     std::vector<std::uint64_t> parents = {},
                     std::string group = "");
TraceNode compute(std::uint64_t id,
                  std::uint64_t microseconds,
                  std::vector<std::uint64_t> parents = {});
TraceNode roofline_compute(std::uint64_t id,
                           std::uint64_t operations,
                           std::uint64_t bytes,
                           std::vector<std::uint64_t> parents = {});
TraceNode send(std::uint64_t id,
               std::uint32_t source,
               std::uint32_t destination,
               std::uint32_t tag,
               std::uint64_t bytes,
               std::vector<std::uint64_t> parents = {});
TraceNode receive(std::uint64_t id,
                  std::uint32_t source,
                  std::uint32_t destination,
                  std::uint32_t tag,
                  std::uint64_t bytes,
                  std::vector<std::uint64_t> parents = {});
TraceNode memory_access(std::uint64_t id,
                        OpKind kind,
                        std::uint64_t bytes,
                        std::vector<std::uint64_t> parents = {});

// The same trace for every rank.
std::vector<Trace> everywhere(std::uint32_t ranks, const Trace& trace);

struct Experiment {
    std::vector<NetworkDimension> dimensions{NetworkDimension{}};
    std::string network_unit = "GiB";
    std::string backend = "congestion_unaware";

    // The system file. An algorithm stands for all kinds; one a dimension, the last one for the
    // rest.
    std::vector<std::string> algorithms{"ring"};
    std::uint32_t chunks = 1;
    std::uint32_t active_chunks = 1;
    std::uint64_t endpoint_delay_ns = 10;
    std::uint64_t memory_bandwidth = 1600;  // GB/s; 0 = left out
    std::uint64_t peak_tflops = 0;
    bool baseline = false;
    bool roofline = false;
    bool replay_only = false;
    std::string scheduling = "LIFO";

    std::optional<std::uint32_t> queues;
    std::optional<double> injection_scale;
    bool rendezvous = false;
    std::string memory;  // JSON; "" = NO_MEMORY_EXPANSION
    std::map<std::string, std::vector<std::uint32_t>> groups;
    std::vector<std::string> settings;         // as of --set
    std::vector<Trace> traces;                 // by rank
    std::map<std::string, std::string> files;  // written last, as they are; name -> content

    std::uint32_t ranks() const;
    // As if nothing but the network took time.
    Experiment& network_only();
};

std::string network_yaml(const Experiment& experiment);
std::string system_json(const Experiment& experiment);
// Writes all files; traces only where the experiment has some.
void write_files(const Experiment& experiment, const ScratchFolder& folder);
// The arguments of the program that run what write_files() wrote.
Arguments run_arguments(const Experiment& experiment, const ScratchFolder& folder);

// Throw what the simulator throws.
RunResult run(const Experiment& experiment);
// Tells the subscriber of all that happens.
RunResult run(const Experiment& experiment, SpanSubscriber& subscriber);
// With when each op ran.
RunResult run_recording_ops(const Experiment& experiment);
RunResult run_study(const std::string& yaml, const RunLimits& limits = {});

struct ProgramRun {
    int status = 0;
    std::string out;
    std::string error;
};
ProgramRun run_captured(const Arguments& arguments);
ProgramRun run_captured(const Experiment& experiment, const Arguments& more = {});

// `rank` of a result.
const RankRecord& rank_record(const RunResult& result, std::uint32_t rank);

}  // namespace astra::test
