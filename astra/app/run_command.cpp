// `astra run`: one experiment, from a study or from ASTRA-sim's own files.
#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "astra/app/command.h"
#include "astra/app/interrupt.h"
#include "astra/app/options.h"
#include "astra/app/progress_line.h"
#include "astra/config/astra_sim/astra_sim.h"
#include "astra/config/config_tree.h"
#include "astra/config/units.h"
#include "astra/core/error.h"
#include "astra/core/text/nearest.h"
#include "astra/results/output_folder.h"
#include "astra/results/result_files.h"
#include "astra/results/summary.h"
#include "astra/results/timeline/timeline.h"
#include "astra/simulation/simulation.h"
#include "network/backend/backend.h"
#include "network/backend/packet/transport.h"

namespace astra {

namespace {

constexpr int kInterrupted = 130;

constexpr const char* kUsage =
    "usage: astra run STUDY.yml [options]\n"
    "       astra run --workload-configuration=PREFIX --system-configuration=FILE "
    "--network-configuration=FILE [options]\n\n"
    "Simulates one experiment. docs/study.md describes the study file, docs/results.md the "
    "results.";

void declare(OptionSet& options) {
    options.add_list(
        "set", "KEY=VALUE", "overrides a key of the study: --set network.backend=congestion_aware");
    options.add_value("backend",
                      "NAME",
                      "network backend (default: the study's, or congestion_unaware)",
                      backends().names());
    options.add_value("transport",
                      "NAME",
                      "transport of the backend packet (default: the study's, or none)",
                      packet::transports().names());
    options.add_value("flows",
                      "FILE",
                      "a flow set as the workload, in place of the study's: lines of 'id src dst "
                      "bytes after'");
    options.add_value(
        "output,o", "DIR", "folder of result.json and the CSV files (default: none are written)");
    options.add_value("timeline",
                      "FILE",
                      "writes what every rank and link did, for ui.perfetto.dev: a name in .json "
                      "makes a Chrome trace");
    options.add_value(
        "timeline-ranks", "LIST", "only these ranks in it, as in 0-3,8 (default: all)");
    options.add_value("timeline-from", "TIME", "without what ends before, as in 5ms (default 0)");
    options.add_value("timeline-until", "TIME", "without what begins after (default: the end)");
    options.add_value("timeline-least", "TIME", "without what takes less (default 0)");
    options.add_value(
        "seed", "N", "seed of noise, of background traffic and of routing (default 1)");
    options.add_value("until",
                      "TIME",
                      "stops with status 3 at this simulated time, as in 5ms (default: no limit)");
    options.add_value(
        "max-events", "N", "stops with status 3 after so many events (default: no limit)");
    options.add_value("record",
                      "LIST",
                      "what to record: links (always), flows (flows.csv: when each message was on "
                      "its way), queues (queues.csv: links in intervals of "
                      "output.sample_interval), ops (ops.csv: when each op ran) and transfers "
                      "(windows.csv and windows.svg: gradient transfers of an iteration)");
    options.add_flag("check", "reads and validates everything, simulates nothing");
    options.add_flag("strict", "warnings are errors");
    options.add_flag("quiet", "no summary, no progress");
    options.add_value("workload-configuration", "PREFIX", "traces PREFIX.<rank>.et (ASTRA-sim)");
    options.add_value("system-configuration", "FILE", "system JSON (ASTRA-sim)");
    options.add_value("network-configuration", "FILE", "network YAML (ASTRA-sim)");
    options.add_value("remote-memory-configuration",
                      "FILE",
                      "memory JSON (ASTRA-sim; default: no remote memory)");
    options.add_value(
        "comm-group-configuration", "FILE", "communicator groups JSON (ASTRA-sim; default: none)");
    options.add_value("num-queues-per-dim", "N", "queues of a dimension (ASTRA-sim; default 1)");
    options.add_value("injection-scale", "X", "multiplies endpoint-delay (ASTRA-sim; default 1)");
    options.add_value(
        "rendezvous-protocol", "BOOL", "receivers ask for messages (ASTRA-sim; default false)");
    options.add_value(
        "network-unit",
        "UNIT",
        "bytes a second that a bandwidth of the network YAML counts, 2^30 (default) or 10^9",
        {"GiB", "GB"});
    options.add_value("logging-configuration", "FILE", "accepted, without effect (ASTRA-sim)");
    options.add_value("logging-folder", "DIR", "accepted, without effect (ASTRA-sim)");
    options.add_value("comm-scale", "X", "refused: it has no effect in ASTRA-sim");
    options.add_value("compute-scale", "X", "refused: it has no effect in ASTRA-sim");
}

std::string required(const OptionSet& options, const std::string& name) {
    const auto value = options.value(name);
    if (!value) {
        throw ConfigError(
            fmt::format("--{} is missing: give a study file, or --workload-configuration, "
                        "--system-configuration and "
                        "--network-configuration",
                        name));
    }
    return *value;
}

bool has_astra_sim_files(const OptionSet& options) {
    for (const char* name : {"workload-configuration",
                             "system-configuration",
                             "network-configuration",
                             "remote-memory-configuration",
                             "comm-group-configuration"}) {
        if (options.value(name)) {
            return true;
        }
    }
    return false;
}

ConfigTree read_astra_sim(const OptionSet& options, Warnings& warnings) {
    AstraSimOptions files;
    // --flows takes the place of the traces, whatever they are called.
    files.workload_prefix = options.value("flows")
                                ? options.value("workload-configuration").value_or("none")
                                : required(options, "workload-configuration");
    files.system_file = required(options, "system-configuration");
    files.network_file = required(options, "network-configuration");
    files.memory_file = options.value("remote-memory-configuration").value_or("");
    files.group_file = options.value("comm-group-configuration").value_or("");
    if (const auto queues = options.integer("num-queues-per-dim", 1, 1024)) {
        files.queues_per_dimension = static_cast<std::uint32_t>(*queues);
    }
    files.injection_scale = options.number("injection-scale");
    files.rendezvous = options.truth("rendezvous-protocol");
    files.network_unit = options.value("network-unit").value_or("GiB");
    if (files.network_unit != "GiB" && files.network_unit != "GB") {
        throw ConfigError(
            fmt::format("--network-unit: '{}' is neither GiB nor GB", files.network_unit));
    }
    return translate_astra_sim(files, warnings);
}

void refuse_scales(const OptionSet& options) {
    for (const char* name : {"comm-scale", "compute-scale"}) {
        if (options.value(name)) {
            throw ConfigError(
                fmt::format("--{}: ASTRA-sim reads this option and ignores it, so a result under "
                            "it would not be what it "
                            "seems; scale sizes or durations in the trace instead",
                            name));
        }
    }
}

Study read_study(const OptionSet& options) {
    refuse_scales(options);
    const auto& files = options.positional();
    const bool astra_sim = has_astra_sim_files(options);
    if (files.size() > 1 || (astra_sim && !files.empty())) {
        throw ConfigError(fmt::format(
            "'{}' is one file too many: give one study, or ASTRA-sim's files by their options",
            files.back()));
    }
    if (!astra_sim && !files.empty()) {
        for (const auto& [name, key] : {std::pair{"num-queues-per-dim", "system.queues"},
                                        std::pair{"injection-scale", "system.injection_scale"},
                                        std::pair{"rendezvous-protocol", "system.rendezvous"},
                                        std::pair{"network-unit", "units in the study"}}) {
            if (options.value(name)) {
                throw ConfigError(
                    fmt::format("--{} goes with ASTRA-sim's files; a study has {}", name, key));
            }
        }
    }
    Warnings warnings;
    for (const char* name : {"logging-configuration", "logging-folder"}) {
        if (options.value(name)) {
            warnings.add(fmt::format("--{} has no effect", name));
        }
    }
    ConfigTree study = astra_sim || files.empty() ? read_astra_sim(options, warnings)
                                                  : ConfigTree::parse_file(files.front());
    if (const auto flows = options.value("flows")) {
        if (study.root().has("jobs")) {
            throw ConfigError(
                "--flows: the study has jobs; a flow set is the workload of one of them");
        }
        study.set("workload={}");
        study.put("workload.flows", *flows, ConfigTree::empty_map("--flows").root());
    }
    if (const auto backend = options.value("backend")) {
        study.set("network.backend=" + *backend);
    }
    if (const auto transport = options.value("transport")) {
        study.set("network.packet.transport=" + *transport);
    }
    if (const auto number = options.integer("seed", 0, kMostSeed)) {
        study.set_seed(*number);
    }
    for (const std::string& assignment : options.list("set")) {
        study.set(assignment);
    }
    return Study(std::move(study), std::move(warnings));
}

// --record=links,flows,queues,ops,transfers: links are always recorded, the others on demand.
Recording read_recording(const OptionSet& options) {
    const std::vector<std::string> known = {"links", "flows", "queues", "ops", "transfers"};
    Recording recording;
    const std::string list = options.value("record").value_or("");
    for (std::size_t begin = 0; begin < list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const std::string what = list.substr(begin, end - begin);
        if (std::find(known.begin(), known.end(), what) == known.end()) {
            throw ConfigError(
                fmt::format("--record: nothing called '{}'{}", what, suggestion(what, known)));
        }
        recording.flows = recording.flows || what == "flows";
        recording.queues = recording.queues || what == "queues";
        recording.ops = recording.ops || what == "ops";
        recording.transfers = recording.transfers || what == "transfers";
        begin = end + 1;
    }
    return recording;
}

std::optional<Duration> read_time(const OptionSet& options, const char* name) {
    const auto text = options.value(name);
    if (!text) {
        return std::nullopt;
    }
    const auto time = parse_duration(*text);
    if (!time) {
        throw ConfigError(fmt::format("--{}: '{}' is {}",
                                      name,
                                      *text,
                                      is_duration(*text) ? "longer than 2^64 ps, some 213 days"
                                                         : "not a time with a unit, as in 5ms"));
    }
    return time;
}

std::optional<TimelineOptions> read_timeline(const OptionSet& options) {
    const auto path = options.value("timeline");
    if (!path) {
        for (const char* name :
             {"timeline-ranks", "timeline-from", "timeline-until", "timeline-least"}) {
            if (options.value(name)) {
                throw ConfigError(fmt::format("--{} goes with --timeline", name));
            }
        }
        return std::nullopt;
    }
    if (path->empty()) {
        throw ConfigError("--timeline: needs the name of a file");
    }
    TimelineOptions timeline;
    timeline.path = *path;
    if (const auto ranks = options.value("timeline-ranks")) {
        timeline.ranks = parse_rank_ranges(*ranks);
    }
    timeline.from.ps = read_time(options, "timeline-from").value_or(Duration{}).ps;
    timeline.until.ps = read_time(options, "timeline-until").value_or(Duration{kMaxPs - 1}).ps;
    timeline.least = read_time(options, "timeline-least").value_or(Duration{});
    return timeline;
}

RunLimits read_limits(const OptionSet& options) {
    RunLimits limits;
    limits.until.ps = read_time(options, "until").value_or(Duration{limits.until.ps}).ps;
    limits.max_events =
        options.integer("max-events", 1, ~std::uint64_t{0}).value_or(limits.max_events);
    return limits;
}

// Prints the warnings from the `printed`-th on; their number so far.
std::size_t print_warnings(const Warnings& warnings, std::size_t printed) {
    for (std::size_t i = printed; i < warnings.texts().size(); ++i) {
        fmt::print(stderr, "astra: warning: {}\n", warnings.texts()[i]);
    }
    return warnings.texts().size();
}

void refuse_warnings(const OptionSet& options, std::size_t warnings) {
    if (options.flag("strict") && warnings > 0) {
        throw ConfigError(fmt::format("--strict: {} warnings, see above", warnings));
    }
}

int simulate_study(const OptionSet& options) {
    Study study = read_study(options);
    const RunLimits limits = read_limits(options);
    Recording recording = read_recording(options);
    const std::optional<TimelineOptions> timeline_options = read_timeline(options);
    recording.timeline = timeline_options.has_value();
    std::size_t printed = print_warnings(study.warnings(), 0);

    Simulation simulation(std::move(study), recording);
    printed = print_warnings(simulation.warnings(), printed);
    refuse_warnings(options, printed);
    if (options.flag("check")) {
        const std::uint64_t flows = simulation.flows();
        fmt::print("valid: {} ranks, {} ops{}\n",
                   simulation.ranks(),
                   simulation.ops(),
                   flows > 0 ? fmt::format(", {} flows", flows) : "");
        return 0;
    }
    const std::string folder = options.value("output").value_or(simulation.output_folder());
    std::optional<OutputFolder> output;
    if (options.value("output") && folder.empty()) {
        throw ConfigError("--output: needs the name of a folder");
    }
    if (!folder.empty()) {
        output.emplace(folder);
    }
    std::optional<Timeline> timeline;
    if (timeline_options) {
        timeline.emplace(*timeline_options, simulation.fabric_ranks(), [&](std::uint32_t link) {
            return simulation.link_name(link);
        });
        simulation.subscribe(*timeline);
    }
    const bool quiet = options.flag("quiet");
    catch_interrupts();
    bool finished = false;
    {
        ProgressLine line(quiet);
        finished = simulation.run(limits, [&](const RunProgress& progress) {
            line.show(progress);
            return !interrupted();
        });
    }
    if (!finished) {
        fmt::print(stderr,
                   "astra: interrupted; nothing was written{}\n",
                   folder.empty() ? "" : " to " + folder);
        return kInterrupted;
    }
    if (timeline) {
        timeline->close();
    }
    printed = print_warnings(simulation.warnings(), printed);
    refuse_warnings(options, printed);
    const RunResult result = simulation.result();
    if (output) {
        write_result_files(result, *output);
    }
    if (!quiet) {
        std::fputs(summary(result).c_str(), stdout);
        if (output) {
            fmt::print("results          {}/result.json and {} CSV files\n",
                       output->path(),
                       output->written().size() - 1);
        }
    }
    return 0;
}

}  // namespace

extern const Command kRunCommand;
const Command kRunCommand = {.name = "run",
                             .summary = "simulates one experiment",
                             .usage = kUsage,
                             .declare = declare,
                             .act = simulate_study};

}  // namespace astra
