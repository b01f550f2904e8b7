// `astra inspect`: what is in an input, and what is wrong with it. Here of traces; of networks,
// collectives and windows of gradients in inspect_network.cpp and so on.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "astra/app/command.h"
#include "astra/app/inspect/inspect_collective.h"
#include "astra/app/inspect/inspect_network.h"
#include "astra/app/inspect/inspect_windows.h"
#include "astra/app/inspect/workload_report.h"
#include "astra/app/options.h"
#include "astra/core/error.h"
#include "astra/core/nearest.h"
#include "workload/chakra/trace_files.h"
#include "workload/chakra/trace_loader.h"

namespace astra {

namespace {

constexpr std::size_t kListedContradictions = 20;
constexpr std::uint64_t kMostRanks = 1U << 20;

int inspect_trace(const std::string& prefix, const OptionSet& options) {
    TraceSource traces;
    traces.prefix = prefix;
    traces.group_file = options.value("groups").value_or("");
    const auto ranks = options.integer("ranks", 1, kMostRanks);
    // Without any file the loader says what it looked for.
    traces.ranks =
        ranks ? static_cast<std::uint32_t>(*ranks) : std::max(count_trace_ranks(prefix), 1U);
    Warnings warnings;
    const Workload workload = load_traces(traces, warnings);
    for (const std::string& warning : warnings.texts()) {
        fmt::print(stderr, "astra: warning: {}\n", warning);
    }
    std::fputs(describe_workload(workload).c_str(), stdout);
    const auto contradictions = find_contradictions(workload);
    if (contradictions.empty()) {
        fmt::print("contradictions   none\n");
        return 0;
    }
    std::string text = fmt::format("{} contradictions:", contradictions.size());
    for (std::size_t i = 0; i < std::min(contradictions.size(), kListedContradictions); ++i) {
        text += "\n  " + contradictions[i];
    }
    throw TraceError(text);
}

int run(const Arguments& arguments) {
    if (!arguments.empty() && arguments.front() == "network") {
        return inspect_network({arguments.begin() + 1, arguments.end()});
    }
    if (!arguments.empty() && arguments.front() == "collective") {
        return inspect_collective({arguments.begin() + 1, arguments.end()});
    }
    if (!arguments.empty() && arguments.front() == "windows") {
        return inspect_windows({arguments.begin() + 1, arguments.end()});
    }
    OptionSet options(
        "usage: astra inspect trace PREFIX [options]\n"
        "       astra inspect network STUDY.yml [options], see astra inspect network --help\n"
        "       astra inspect collective MACHINE.yml [options], see astra inspect collective "
        "--help\n"
        "       astra inspect windows STUDY.yml [options], see astra inspect windows --help\n\n"
        "Counts what is in the traces PREFIX.<rank>.et and checks that sends and receives, and the "
        "collectives "
        "of each group, fit together. Exit status 2 if they do not.");
    options.add_value("ranks", "N", "number of ranks (default: as many as there are files)");
    options.add_value("groups", "FILE", "communicator groups, JSON (default: none)");
    options.parse(arguments);
    if (options.wants_help()) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    const auto& words = options.positional();
    const std::vector<std::string> what = {"trace", "network", "collective", "windows"};
    if (words.empty() || words.front() != "trace") {
        if (words.empty()) {
            throw ConfigError(
                "inspect: needs what to inspect: trace PREFIX, network STUDY.yml, "
                "collective MACHINE.yml or windows STUDY.yml");
        }
        const std::string& word = words.front();
        if (word == "network" || word == "collective" || word == "windows") {
            throw ConfigError(fmt::format("inspect: the word '{}' goes before the options", word));
        }
        throw ConfigError(
            fmt::format("inspect: cannot inspect '{}'{}", word, suggestion(word, what)));
    }
    if (words.size() != 2) {
        throw ConfigError("inspect trace: needs one prefix of trace files");
    }
    return inspect_trace(words[1], options);
}

}  // namespace

extern const Command kInspectCommand;
const Command kInspectCommand = {
    "inspect",
    "says what is in traces, or what a network, a collective or the windows of gradients are "
    "like, and what is wrong with them",
    run};

}  // namespace astra
