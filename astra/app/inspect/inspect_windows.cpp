#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "astra/app/command.h"
#include "astra/app/options.h"
#include "astra/core/error.h"
#include "astra/results/output_folder.h"
#include "astra/simulation/simulation.h"
#include "workload/training/window_report.h"

namespace astra {

namespace {

constexpr std::uint64_t kListed = 100;
constexpr std::uint64_t kMostListed = 1'000'000'000;

void write_file(const std::string& option, const std::string& file, const std::string& content) {
    const std::filesystem::path path(file);
    if (path.filename().empty()) {
        throw ConfigError(fmt::format("--{}: needs the name of a file", option));
    }
    const std::string folder = path.parent_path().string();
    OutputFolder(folder.empty() ? "." : folder).write(path.filename().string(), content);
}

// What each transfer takes alone, by the line that was measured for its group.
void add_costs(TrainingReport& report,
               std::uint64_t job,
               const std::vector<CommunicatorRecord>& communicators) {
    std::map<std::string, const CommunicatorRecord*> by_group;
    for (const CommunicatorRecord& communicator : communicators) {
        if (communicator.job == job) {
            // Behind the name of the job, if there are several.
            by_group[communicator.group.substr(communicator.group.rfind('/') + 1)] = &communicator;
        }
    }
    for (TransferWindow& window : report.windows) {
        const std::string& name = report.groups[window.group];
        const auto found = by_group.find(name.substr(name.rfind('/') + 1));
        if (!window.cost && found != by_group.end()) {
            const CommunicatorRecord& line = *found->second;
            const double ps = line.beta_ps * static_cast<double>(window.bytes.count);
            window.cost = line.alpha + Duration{static_cast<std::uint64_t>(std::llround(ps))};
        }
    }
}

std::uint64_t job_of(const Simulation& simulation, const OptionSet& options) {
    const std::size_t jobs = simulation.training().size();
    if (jobs == 0) {
        throw ConfigError("inspect windows: the study replays no traces");
    }
    return options.integer("job", 0, jobs - 1).value_or(0);
}

constexpr const char* kUsage =
    "usage: astra inspect windows STUDY.yml [options]\n\n"
    "Finds the gradient transfers of a training study: the op that makes each ready, the first "
    "op that reads its parameter in the next iteration, and the window between them, under "
    "the durations of the trace (docs/caramel.md). Exit status 2 if there are none.";

void declare(OptionSet& options) {
    options.add_list("set", "KEY=VALUE", "overrides a key: --set workload.iteration_barrier=false");
    options.add_value("job", "N", "which of the jobs that replay traces, from 0 (default: 0)");
    options.add_value("most", "N", "transfers that are listed (default: 100)");
    options.add_value("csv", "FILE", "writes all windows as a table (default: none is written)");
    options.add_value("svg", "FILE", "draws a bar a tensor (default: none is drawn)");
}

int inspect_windows(const OptionSet& options) {
    if (options.positional().size() != 1) {
        throw ConfigError("inspect windows: needs one study file");
    }
    Study study = Study::from_file(options.positional().front());
    for (const std::string& assignment : options.list("set")) {
        study.set(assignment);
    }
    Recording recording;
    recording.look_for_windows = true;
    const Simulation simulation(std::move(study), recording);
    for (const std::string& warning : simulation.warnings().texts()) {
        fmt::print(stderr, "astra: warning: {}\n", warning);
    }
    const std::uint64_t job = job_of(simulation, options);
    TrainingReport report = simulation.training()[job];
    add_costs(report, job, simulation.communicators());
    const std::uint64_t most = options.integer("most", 0, kMostListed).value_or(kListed);
    std::fputs(describe_training(report, most).c_str(), stdout);
    if (const auto file = options.value("csv")) {
        write_file("csv", *file, windows_csv(report));
    }
    if (const auto file = options.value("svg")) {
        write_file("svg", *file, windows_svg(report));
    }
    return 0;
}

}  // namespace

extern const Command kInspectWindows;
const Command kInspectWindows = {.name = "windows",
                                 .summary = "when gradients are ready and when they are needed",
                                 .usage = kUsage,
                                 .declare = declare,
                                 .act = inspect_windows};

}  // namespace astra
