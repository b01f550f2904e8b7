#include "astra/simulation/run_end.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "astra/core/error.h"

namespace astra {

namespace {

constexpr std::size_t kReportLines = 20;
constexpr std::size_t kListedSends = 5;

std::string join_lines(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) {
        text += "\n  " + line;
    }
    return text;
}

}  // namespace

std::string why_unfinished(Layers& layers, const RunLimits& limits) {
    if (layers.finished()) {
        return "";
    }
    if (layers.queue.empty()) {
        return "deadlock";
    }
    if (layers.queue.executed() >= limits.max_events) {
        return "the limit of events is reached";
    }
    layers.queue.pass_to(limits.until);
    return "the limit of simulated time is reached";
}

void refuse_unfinished(const Layers& layers, const std::string& why) {
    const std::uint32_t stuck = layers.ranks() - layers.finished_ranks();
    std::string text =
        fmt::format("cannot finish: {} at {} ps (event {}): {} of {} ranks have not finished",
                    why,
                    layers.queue.now().ps,
                    layers.queue.executed(),
                    stuck,
                    layers.ranks());
    text += join_lines(layers.replayer.describe_stuck(kReportLines));
    text += join_lines(layers.flows.describe_stuck(kReportLines));
    const auto unfinished = layers.collectives.describe_unfinished(kReportLines);
    if (!unfinished.empty()) {
        text += "\nunfinished collectives:" + join_lines(unfinished);
    }
    throw SimulationError(text);
}

void warn_of_the_run(Layers& layers) {
    Warnings& warnings = layers.warnings;
    const auto unreceived = layers.points.unreceived();
    if (!unreceived.empty()) {
        std::string text =
            fmt::format("{} unmatched messages were sent and never received:", unreceived.size());
        for (std::size_t i = 0; i < std::min(unreceived.size(), kListedSends); ++i) {
            text += fmt::format("{} {}", i == 0 ? "" : ";", unreceived[i]);
        }
        warnings.add(text);
    }
    const std::string held = layers.replayer.describe_held();
    if (!held.empty()) {
        warnings.add(
            "ranks came to their collectives in different order; one order was taken for all: " +
            held);
    }
    const ReplayCounts& counts = layers.replayer.counts();
    if (counts.skipped > 0) {
        warnings.add(fmt::format("{} nodes of type INVALID were skipped", counts.skipped));
    }
    if (counts.without_duration > 0) {
        warnings.add(fmt::format("{} compute nodes had no duration and took no time",
                                 counts.without_duration));
    }
    if (counts.communication_ops == 0 && layers.replayer.ranks() > 1 && layers.flows.flows() == 0) {
        warnings.add(
            fmt::format("no communication was simulated: {} ranks, {} ops, {} of them skipped",
                        layers.replayer.ranks(),
                        counts.ops,
                        counts.skipped));
    }
}

}  // namespace astra
