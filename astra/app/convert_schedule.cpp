#include "astra/app/convert_schedule.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "astra/config/config_tree.h"
#include "astra/config/units.h"
#include "astra/core/error.h"
#include "astra/core/text/json_text.h"
#include "astra/results/schedule_files.h"
#include "astra/simulation/run_schedule.h"
#include "astra/simulation/simulation.h"
#include "system/transfer/policy.h"
#include "workload/chakra/trace_files.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostIterations = 1'000'000;

// A study of these traces on a network that is nothing but alpha and beta.
ConfigTree study_of_traces(const std::string& prefix, const OptionSet& options) {
    const std::uint32_t ranks = count_trace_ranks(prefix);
    if (ranks == 0) {
        throw ConfigError(fmt::format(
            "convert: '{}' is neither a study nor the prefix of traces {}.0.et and so on",
            prefix,
            prefix));
    }
    const auto alpha = options.value("alpha");
    const auto beta = options.value("beta");
    if (!alpha || !beta) {
        throw ConfigError(
            "convert: --schedule of traces needs --alpha and --beta, what a transfer costs; or a "
            "study, whose network says it");
    }
    if (!parse_duration(*alpha)) {
        throw ConfigError(fmt::format("--alpha: '{}' is not a time like 10us", *alpha));
    }
    if (!parse_bandwidth(*beta)) {
        throw ConfigError(fmt::format("--beta: '{}' is not a bandwidth like 10Gbps", *beta));
    }
    ConfigTree study = ConfigTree::empty_map("command line");
    study.set("workload.trace=" + json_text(prefix));
    if (const auto groups = options.value("groups")) {
        study.set("workload.groups=" + json_text(*groups));
    }
    for (const char* kind : {"all_reduce", "reduce_scatter"}) {
        study.set(fmt::format("system.collectives.{}=measured", kind));
        study.set(fmt::format("system.measured.{}.alpha={}", kind, *alpha));
        study.set(fmt::format("system.measured.{}.beta={}", kind, *beta));
    }
    study.set(fmt::format(
        "network.dimensions=[{{topology: switch, ranks: {}, bandwidth: {}}}]", ranks, *beta));
    return study;
}

bool is_study(const std::string& input) {
    std::error_code error;
    return std::filesystem::is_regular_file(input, error);
}

}  // namespace

void declare_schedule_options(OptionSet& options) {
    options.add_value("schedule",
                      "POLICY",
                      "writes traces with the schedule of this policy of transfers (default: none)",
                      transfer_policies().names());
    options.add_list(
        "set", "KEY=VALUE", "with --schedule: overrides a key of the study (default: none)");
    options.add_value("iterations",
                      "N",
                      "with --schedule: copies of a trace of one iteration (default: as the study "
                      "says)");
    options.add_value(
        "groups", "FILE", "with --schedule of traces: communicator groups, JSON (default: none)");
    options.add_value(
        "alpha", "TIME", "with --schedule of traces: what a transfer takes at least (needed)");
    options.add_value("beta",
                      "BANDWIDTH",
                      "with --schedule of traces: at which its bytes are reduced beside (needed)");
}

int convert_schedule(const std::string& input,
                     const std::string& output,
                     const OptionSet& options) {
    ConfigTree study = is_study(input) ? ConfigTree::parse_file(input, FilePurpose::Study)
                                       : study_of_traces(input, options);
    if (study.root().has("jobs")) {
        throw ConfigError(
            "convert: --schedule writes the traces of one job; the study has several");
    }
    study.set("system.transfers.policy=" + json_text(*options.value("schedule")));
    if (const auto iterations = options.integer("iterations", 1, kMostIterations)) {
        study.set(fmt::format("workload.iterations={}", *iterations));
    }
    for (const std::string& assignment : options.list("set")) {
        study.set(assignment);
    }
    Recording recording;
    recording.look_for_windows = true;
    recording.schedule = true;
    Simulation simulation(Study(std::move(study)), recording);
    for (const std::string& warning : simulation.warnings().texts()) {
        fmt::print(stderr, "astra: warning: {}\n", warning);
    }
    simulation.run({});
    write_schedule(simulation.schedule(), output);
    fmt::print("wrote {} traces, {}.0.et to {}.{}.et, and {}.groups.json\n",
               simulation.ranks(),
               output,
               output,
               simulation.ranks() - 1,
               output);
    return 0;
}

}  // namespace astra
