#include "astra/results/summary.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "astra/config/units.h"
#include "astra/core/version.h"
#include "astra/results/collective_summary.h"
#include "astra/results/flow_files.h"
#include "astra/results/link_load.h"
#include "astra/results/packet_totals.h"
#include "astra/results/training_files.h"

namespace astra {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t kDimensionRows = 6;

std::string share(Duration part, SimTime whole) {
    if (whole.ps == 0) {
        return "0.0 %";
    }
    return fmt::format("{:.1f} %",
                       100.0 * static_cast<double>(part.ps) / static_cast<double>(whole.ps));
}

std::string time(SimTime t) {
    return to_text(Duration{t.ps});
}

// For whom the others waited most.
void write_straggler(std::string& text, const RunResult& result) {
    const auto straggler = std::max_element(
        result.ranks.begin(), result.ranks.end(), [](const auto& a, const auto& b) {
            return a.waited_for < b.waited_for;
        });
    double all = 0;
    for (const RankRecord& rank : result.ranks) {
        all += static_cast<double>(rank.waited_for.ps);
    }
    if (all > 0) {
        fmt::format_to(Out(text),
                       "straggler        rank {}: the others waited {} for it in all, {:.1f} % of "
                       "what ranks waited\n",
                       index(straggler->rank),
                       to_text(straggler->waited_for),
                       100 * static_cast<double>(straggler->waited_for.ps) / all);
    }
}

void write_ranks(std::string& text, const RunResult& result) {
    const auto by_finish = [](const RankRecord& a, const RankRecord& b) {
        return a.finish < b.finish;
    };
    const auto [fastest, slowest] =
        std::minmax_element(result.ranks.begin(), result.ranks.end(), by_finish);
    fmt::format_to(Out(text),
                   "ranks            {}; slowest rank {} ({}), fastest rank {} ({})\n",
                   result.ranks.size(),
                   index(slowest->rank),
                   time(slowest->finish),
                   index(fastest->rank),
                   time(fastest->finish));
    fmt::format_to(
        Out(text),
        "slowest rank     compute {} ({}), exposed communication {} ({}), waiting {} ({}), "
        "exposed memory {} ({}), idle {} ({})\n",
        to_text(slowest->compute),
        share(slowest->compute, slowest->finish),
        to_text(slowest->exposed_communication),
        share(slowest->exposed_communication, slowest->finish),
        to_text(slowest->waiting),
        share(slowest->waiting, slowest->finish),
        to_text(slowest->exposed_memory),
        share(slowest->exposed_memory, slowest->finish),
        to_text(slowest->idle),
        share(slowest->idle, slowest->finish));
    const Duration hidden{slowest->communication.ps - slowest->exposed_communication.ps -
                          slowest->waiting.ps};
    fmt::format_to(Out(text),
                   "communication    {} on the slowest rank, {} of it hidden under compute\n",
                   to_text(slowest->communication),
                   to_text(hidden));
    write_straggler(text, result);
}

void write_links(std::string& text, const RunResult& result) {
    if (result.links.empty()) {
        return;
    }
    const auto busiest = std::max_element(
        result.links.begin(), result.links.end(), [](const auto& a, const auto& b) {
            return a.busy < b.busy;
        });
    const SimTime whole = result.has_packets ? result.ended : result.simulated;
    fmt::format_to(Out(text),
                   "busiest link     {} -> {}: {}, {} of {} ({}){}\n",
                   busiest->from,
                   busiest->to,
                   to_text(busiest->bytes),
                   to_text(busiest->busy),
                   time(whole),
                   share(busiest->busy, whole),
                   result.links_are_shared
                       ? ""
                       : "; messages do not share links here, so this may pass 100 %");
}

void write_dimensions(std::string& text, const RunResult& result) {
    if (result.links.empty()) {
        return;
    }
    const SimTime whole = result.has_packets ? result.ended : result.simulated;
    const char* title = "busy dimensions ";
    std::size_t rows = 0;
    for (const DimensionRecord& dimension : result.dimensions) {
        if (rows++ == kDimensionRows) {
            fmt::format_to(Out(text),
                           "                 … and {} more\n",
                           result.dimensions.size() - kDimensionRows);
            break;
        }
        fmt::format_to(Out(text),
                       "{:<16} {} ({}): {}, the mean of its {} links\n",
                       title,
                       dimension.dimension,
                       dimension.topology,
                       share(dimension.mean_busy, whole),
                       dimension.links);
        title = "";
    }
}

}  // namespace

double bus_factor(CollectiveKind kind, std::uint32_t ranks) {
    const double n = ranks;
    switch (kind) {
        case CollectiveKind::AllReduce:
            return 2 * (n - 1) / n;
        case CollectiveKind::AllGather:
        case CollectiveKind::ReduceScatter:
        case CollectiveKind::ReduceScatterBlock:
        case CollectiveKind::AllToAll:
        case CollectiveKind::Gather:
        case CollectiveKind::Scatter:
            return (n - 1) / n;
        default:
            return 1;
    }
}

std::string summary(const RunResult& result) {
    std::string text;
    if (!result.unfinished.empty()) {
        text = fmt::format(
            "unfinished       {}: what was simulated up to {}, without the end of {} of {} ranks\n",
            result.unfinished,
            time(result.ended),
            result.unfinished_ranks,
            result.ranks.size());
    }
    if (!result.have_work) {
        text += "nothing simulated  no op of any rank takes time or bytes\n";
    }
    fmt::format_to(Out(text),
                   "astra {}\n"
                   "network          {}\n"
                   "backend          {}\n"
                   "simulated time   {} ({} ps)\n",
                   version(),
                   result.network,
                   result.backend,
                   time(result.simulated),
                   result.simulated.ps);
    if (!result.ranks.empty()) {
        write_ranks(text, result);
    }
    const RunCounts& n = result.counts;
    fmt::format_to(Out(text),
                   "messages         {}, {} ({} B) in all\n",
                   n.messages,
                   to_text(Bytes{n.message_bytes}),
                   n.message_bytes);
    if (n.background_messages > 0) {
        fmt::format_to(Out(text), "background       {} messages more\n", n.background_messages);
    }
    text += flows_summary(result);
    text += training_summary(result);
    write_collective_summary(text, result);
    write_links(text, result);
    write_dimensions(text, result);
    text += link_load_summary(result);
    text += packets_summary(result);
    if (n.ops == 0 && result.flow_statistics) {
        return text;
    }
    fmt::format_to(Out(text),
                   "ops              {} done, {} skipped (INVALID nodes), {} compute ops without a "
                   "duration, {} dependencies dropped\n",
                   n.ops - n.skipped_ops,
                   n.skipped_ops,
                   n.ops_without_duration,
                   n.dropped_dependencies);
    return text;
}

}  // namespace astra
