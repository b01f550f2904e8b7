// `astra inspect trace`: what is in traces, and whether it fits together.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include <fmt/format.h>

#include "astra/app/command.h"
#include "astra/app/inspect/workload_report.h"
#include "astra/app/options.h"
#include "astra/core/error.h"
#include "workload/chakra/trace_files.h"
#include "workload/chakra/trace_loader.h"
#include "workload/order/job_order.h"

namespace astra {

namespace {

constexpr std::size_t kListedContradictions = 20;
constexpr std::uint64_t kMostRanks = 1U << 20;

constexpr const char* kUsage =
    "usage: astra inspect trace PREFIX [options]\n\n"
    "Counts what is in the traces PREFIX.<rank>.et and checks that sends and receives, and the "
    "collectives of each group, fit together and have an order that all ranks can follow. Exit "
    "status 2 if they do not fit together, 3 if ops wait for each other in a circle.";

void declare(OptionSet& options) {
    options.add_value("ranks", "N", "number of ranks (default: as many as there are files)");
    options.add_value("groups", "FILE", "communicator groups, JSON (default: none)");
}

// Throws where ops wait for each other in a circle.
void check_order(const Workload& workload) {
    OrderNames names;
    names.ranks.resize(workload.ranks.size());
    std::iota(names.ranks.begin(), names.ranks.end(), 0U);
    Warnings warnings;
    const JobOrder order(workload, {}, names, warnings);
    for (const std::string& warning : warnings.texts()) {
        fmt::print(stderr, "astra: warning: {}\n", warning);
    }
}

int inspect_trace(const OptionSet& options) {
    if (options.positional().size() != 1) {
        throw ConfigError("inspect trace: needs one prefix of trace files");
    }
    const std::string& prefix = options.positional().front();
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
        check_order(workload);
        fmt::print("contradictions   none\n");
        return 0;
    }
    std::string text = fmt::format("{} contradictions:", contradictions.size());
    for (std::size_t i = 0; i < std::min(contradictions.size(), kListedContradictions); ++i) {
        text += "\n  " + contradictions[i];
    }
    throw TraceError(text);
}

}  // namespace

extern const Command kInspectTrace;
const Command kInspectTrace = {.name = "trace",
                               .summary = "counts of traces, and whether they fit together",
                               .usage = kUsage,
                               .declare = declare,
                               .act = inspect_trace};

}  // namespace astra
