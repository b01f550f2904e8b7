// `astra run`: one experiment, from a study or from ASTRA-sim's own files.
#include <cstdio>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "astra/app/command.h"
#include "astra/app/options.h"
#include "astra/app/run/interrupt.h"
#include "astra/app/run/progress_line.h"
#include "astra/app/run/run_recording.h"
#include "astra/app/run/run_study.h"
#include "astra/core/error.h"
#include "astra/results/output_folder.h"
#include "astra/results/result_files.h"
#include "astra/results/summary.h"
#include "astra/results/timeline/timeline.h"
#include "astra/simulation/simulation.h"

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
    declare_study_options(options);
    options.add_value(
        "output,o", "DIR", "folder of result.json and the CSV files (default: none are written)");
    declare_timeline_options(options);
    options.add_value(
        "until",
        "TIME",
        "stops with status 3 at this simulated time, as in 5ms, and writes what there is "
        "(default: no limit)");
    options.add_value(
        "max-events",
        "N",
        "stops with status 3 after so many events, and writes what there is (default: no limit)");
    declare_record_option(options);
    options.add_flag("check", "reads and validates everything, simulates nothing");
    options.add_flag("strict", "warnings are errors");
    options.add_flag("quiet", "no summary, no progress");
    declare_astra_sim_options(options);
}

RunLimits read_limits(const OptionSet& options) {
    RunLimits limits;
    limits.until.ps = options.duration("until").value_or(Duration{limits.until.ps}).ps;
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

void print_validity(const Simulation& simulation) {
    const std::uint64_t flows = simulation.flows();
    fmt::print("valid: {} ranks, {} ops{}\n",
               simulation.ranks(),
               simulation.ops(),
               flows > 0 ? fmt::format(", {} flows", flows) : "");
}

// The folder of --output, or that of the study; nothing if there is none.
std::optional<OutputFolder> open_output(const OptionSet& options, const Simulation& simulation) {
    const std::string folder = options.value("output").value_or(simulation.output_folder());
    if (options.value("output") && folder.empty()) {
        throw ConfigError("--output: needs the name of a folder");
    }
    if (folder.empty()) {
        return std::nullopt;
    }
    return std::optional<OutputFolder>(std::in_place, folder);
}

// False if somebody has interrupted it.
bool run_to_end(Simulation& simulation, const RunLimits& limits, bool quiet) {
    catch_interrupts();
    ProgressLine line(quiet);
    return simulation.run(limits, [&](const RunProgress& progress) {
        line.show(progress);
        return !interrupted();
    });
}

void print_interruption(const std::optional<OutputFolder>& output) {
    fmt::print(stderr,
               "astra: interrupted; {}\n",
               output ? "what was simulated so far is in " + output->path() + ", marked unfinished"
                      : "no folder was named, nothing was written");
}

void print_result(const RunResult& result, const std::optional<OutputFolder>& output) {
    std::fputs(summary(result).c_str(), stdout);
    if (output) {
        fmt::print("results          {}/result.json and {} CSV files\n",
                   output->path(),
                   output->written().size() - 1);
    }
}

// What `simulation` has come to, finished or not.
void write_result(const Simulation& simulation,
                  std::optional<Timeline>& timeline,
                  std::optional<OutputFolder>& output,
                  bool quiet) {
    if (timeline) {
        timeline->close();
    }
    const RunResult result = simulation.result();
    if (output) {
        write_result_files(result, *output);
    }
    if (!quiet) {
        print_result(result, output);
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
        print_validity(simulation);
        return 0;
    }
    std::optional<OutputFolder> output = open_output(options, simulation);
    std::optional<Timeline> timeline;
    if (timeline_options) {
        timeline.emplace(*timeline_options, simulation.fabric_ranks(), [&](LinkId link) {
            return simulation.link_name(link);
        });
        simulation.subscribe(*timeline);
    }
    const bool quiet = options.flag("quiet");
    const auto write = [&] {
        printed = print_warnings(simulation.warnings(), printed);
        if (simulation.unfinished().empty()) {
            refuse_warnings(options, printed);
        }
        write_result(simulation, timeline, output, quiet);
    };
    try {
        if (!run_to_end(simulation, limits, quiet)) {
            write();
            print_interruption(output);
            return kInterrupted;
        }
    } catch (const SimulationError&) {
        if (!simulation.unfinished().empty()) {
            write();
        }
        throw;
    }
    write();
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
