#include "astra/results/summary.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "astra/config/units.h"
#include "astra/core/version.h"
#include "astra/results/flow_files.h"
#include "astra/results/link_load.h"
#include "astra/results/packet_totals.h"
#include "astra/results/training_files.h"

namespace astra {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t kCollectiveRows = 12;
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
        "slowest rank     compute {} ({}), exposed communication {} ({}), exposed memory {} "
        "({}), idle {} ({})\n",
        to_text(slowest->compute),
        share(slowest->compute, slowest->finish),
        to_text(slowest->exposed_communication),
        share(slowest->exposed_communication, slowest->finish),
        to_text(slowest->exposed_memory),
        share(slowest->exposed_memory, slowest->finish),
        to_text(slowest->idle),
        share(slowest->idle, slowest->finish));
    const Duration hidden{slowest->communication.ps - slowest->exposed_communication.ps};
    fmt::format_to(Out(text),
                   "communication    {} on the slowest rank, {} of it hidden under compute\n",
                   to_text(slowest->communication),
                   to_text(hidden));
}

struct KindTotal {
    std::uint64_t count = 0;
    std::uint64_t total_bytes = 0;
    std::uint64_t least_bytes = ~std::uint64_t{0};
    std::uint64_t most_bytes = 0;
    double seconds = 0;
    double bus_bytes = 0;
    std::uint64_t beyond_links = 0;
};

// Why some are marked.
void write_beyond_links(std::string& text, const RunResult& result) {
    std::uint64_t count = 0;
    double seconds = 0;
    double need_seconds = 0;
    for (const CollectiveRecord& c : result.collectives) {
        if (c.beyond_links()) {
            ++count;
            seconds += static_cast<double>((c.end - c.start).ps) * 1e-12;
            need_seconds += static_cast<double>(c.need.ps) * 1e-12;
        }
    }
    if (count > 0) {
        fmt::format_to(
            Out(text),
            "                 ! beyond what the links can carry, as messages do not share "
            "links on {}: {} of {},\n                   for which the busiest link has "
            "{:.2f} times the work that fits\n",
            result.backend,
            count,
            result.collectives.size(),
            need_seconds / seconds);
    }
}

void write_collectives(std::string& text, const RunResult& result) {
    if (result.collectives.empty()) {
        return;
    }
    std::map<std::tuple<CollectiveKind, std::string, std::uint32_t>, KindTotal> totals;
    std::size_t running = 0;
    for (const CollectiveRecord& c : result.collectives) {
        if (!c.ended) {
            ++running;
            continue;
        }
        KindTotal& total = totals[{c.kind, c.algorithm, c.ranks}];
        ++total.count;
        total.total_bytes = saturating_add(total.total_bytes, c.total_bytes.count);
        total.least_bytes = std::min(total.least_bytes, c.total_bytes.count);
        total.most_bytes = std::max(total.most_bytes, c.total_bytes.count);
        total.seconds += static_cast<double>((c.end - c.start).ps) * 1e-12;
        total.beyond_links += c.beyond_links() ? 1 : 0;
        total.bus_bytes += static_cast<double>(c.total_bytes.count) * bus_factor(c.kind, c.ranks);
    }
    fmt::format_to(Out(text),
                   "collectives      {:<14} {:<29} {:>6} {:>6} {:>19} {:>10} {:>10}\n",
                   "kind",
                   "algorithm",
                   "ranks",
                   "count",
                   "buffer",
                   "mean time",
                   "busbw GB/s");
    std::size_t rows = 0;
    for (const auto& [key, total] : totals) {
        if (rows++ == kCollectiveRows) {
            fmt::format_to(
                Out(text), "                 … and {} more\n", totals.size() - kCollectiveRows);
            break;
        }
        const std::string size =
            total.least_bytes == total.most_bytes
                ? to_text(Bytes{total.most_bytes})
                : to_text(Bytes{total.least_bytes}) + " … " + to_text(Bytes{total.most_bytes});
        const double mean_ps = total.seconds * 1e12 / static_cast<double>(total.count);
        fmt::format_to(
            Out(text),
            "                 {:<14} {:<29} {:>6} {:>6} {:>19} {:>10} {:>10}{}\n",
            name_of(std::get<0>(key)),
            std::get<1>(key),
            std::get<2>(key),
            total.count,
            size,
            to_text(Duration{static_cast<std::uint64_t>(mean_ps)}),
            total.seconds > 0 ? fmt::format("{:.3f}", total.bus_bytes / total.seconds / 1e9) : "-",
            total.beyond_links > 0 ? " !" : "");
    }
    write_beyond_links(text, result);
    if (running > 0) {
        fmt::format_to(Out(text), "                 and {} that had not ended\n", running);
    }
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
    write_collectives(text, result);
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
