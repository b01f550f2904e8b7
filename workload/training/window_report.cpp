#include "workload/training/window_report.h"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "astra/config/units.h"
#include "workload/graph/messages.h"

namespace astra {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t kMostBars = 2000;
constexpr int kBarHeight = 12;
constexpr int kNameWidth = 220;
constexpr int kPlotWidth = 860;
constexpr int kTop = 28;

std::int64_t window_ps(const TransferWindow& window) {
    return static_cast<std::int64_t>(window.end.ps) - static_cast<std::int64_t>(window.start.ps);
}

std::string signed_text(std::int64_t ps) {
    const auto magnitude = static_cast<std::uint64_t>(ps < 0 ? -ps : ps);
    return (ps < 0 ? "-" : "") + to_text(Duration{magnitude});
}

std::string slack_text(const TransferWindow& window) {
    return window.cost ? signed_text(window_ps(window) - static_cast<std::int64_t>(window.cost->ps))
                       : "-";
}

std::string csv_text(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : printable(text)) {
        quoted += c == '"' ? "\"\"" : std::string(1, c);
    }
    return quoted + "\"";
}

std::string xml_text(const std::string& text) {
    std::string escaped;
    for (const char c : printable(text)) {
        escaped += c == '<'   ? "&lt;"
                   : c == '>' ? "&gt;"
                   : c == '&' ? "&amp;"
                   : c == '"' ? "&quot;"
                              : std::string(1, c);
    }
    return escaped;
}

const std::string& label_of(const TransferWindow& window) {
    return window.parameter.empty() ? window.name : window.parameter;
}

}  // namespace

std::string why_no_transfers(const Workload& workload) {
    std::map<CollectiveKind, std::uint64_t> kinds;
    for (const RankTrace& rank : workload.ranks) {
        for (const CollectiveDetail& detail : rank.graph->collectives) {
            ++kinds[detail.kind];
        }
    }
    if (kinds.empty()) {
        return "the traces hold no collective at all";
    }
    std::string listed;
    for (const auto& [kind, count] : kinds) {
        listed += fmt::format("{}{} {}", listed.empty() ? "" : ", ", count, name_of(kind));
    }
    const bool some = kinds.contains(CollectiveKind::AllReduce) ||
                      kinds.contains(CollectiveKind::ReduceScatter) ||
                      kinds.contains(CollectiveKind::ReduceScatterBlock);
    return some ? "of the collectives (" + listed +
                      ") none reduces gradients: their names say otherwise, or computations of the "
                      "same iteration wait for them; a rule file can say better"
                : "gradients are reduced by all_reduce or reduce_scatter, and the traces hold none "
                  "(" +
                      listed + ")";
}

std::string describe_training(const TrainingReport& report, std::size_t most) {
    std::string text = fmt::format(
        "iterations       {} in the trace ({}), {} simulated, {}\n"
        "computation      {} an iteration, nobody waiting for a transfer{}\n"
        "transfers        {} of gradients an iteration, of one rank for each distinct trace\n",
        report.recorded_iterations,
        report.told_apart,
        report.iterations,
        report.barrier ? "with a barrier between them" : "without a barrier",
        to_text(report.iteration),
        report.ordered ? "; computed in the order of the tightest windows" : "",
        report.windows.size());
    if (report.other_collectives > 0) {
        fmt::format_to(Out(text),
                       "not matched      {} all_reduce or reduce_scatter ops are of no gradients: "
                       "computations of their iteration wait for them\n",
                       report.other_collectives);
    }
    if (report.without_update > 0) {
        fmt::format_to(Out(text),
                       "                 {} transfers have no update after them\n",
                       report.without_update);
    }
    if (report.readers_unknown > 0) {
        fmt::format_to(Out(text),
                       "                 {} transfers have no known reader, so that the next "
                       "iteration is taken to begin with it:",
                       report.readers_unknown);
        for (const std::string& name : report.without_reader) {
            text += " " + name;
        }
        text += report.readers_unknown > report.without_reader.size() ? " ...\n" : "\n";
    }
    fmt::format_to(Out(text),
                   "\n{:>5} {:<12} {:<32} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}  {}\n",
                   "rank",
                   "group",
                   "tensor",
                   "size",
                   "start",
                   "end",
                   "window",
                   "takes",
                   "slack",
                   "made by -> read by");
    for (std::size_t i = 0; i < std::min(report.windows.size(), most); ++i) {
        const TransferWindow& window = report.windows[i];
        fmt::format_to(Out(text),
                       "{:>5} {:<12} {:<32} {:>11} {:>11} {:>11} {:>11} {:>11} {:>11}  {} -> {}\n",
                       window.rank,
                       printable(report.groups[window.group]),
                       printable(label_of(window)),
                       to_text(window.bytes),
                       to_text(window.start),
                       to_text(window.end),
                       signed_text(window_ps(window)),
                       window.cost ? to_text(*window.cost) : "-",
                       slack_text(window),
                       window.made_by.empty() ? "nothing" : printable(window.made_by),
                       window.read_by.empty() ? "not known" : printable(window.read_by));
    }
    if (report.windows.size() > most) {
        fmt::format_to(Out(text), "and {} more\n", report.windows.size() - most);
    }
    return text;
}

std::string windows_csv(const TrainingReport& report) {
    std::string text =
        "rank,group,transfer,op,parameter,kind,bytes,made_by,read_by,start_ps,end_ps,window_ps,"
        "cost_ps,slack_ps\n";
    for (const TransferWindow& window : report.windows) {
        fmt::format_to(Out(text),
                       "{},{},{},{},{},{},{},{},{},{},{},{},",
                       window.rank,
                       csv_text(report.groups[window.group]),
                       window.transfer,
                       csv_text(window.name),
                       csv_text(window.parameter),
                       name_of(window.kind),
                       window.bytes.count,
                       csv_text(window.made_by),
                       csv_text(window.read_by),
                       window.start.ps,
                       window.end.ps,
                       window_ps(window));
        if (window.cost) {
            fmt::format_to(Out(text),
                           "{},{}\n",
                           window.cost->ps,
                           window_ps(window) - static_cast<std::int64_t>(window.cost->ps));
        } else {
            text += ",\n";
        }
    }
    return text;
}

std::string windows_svg(const TrainingReport& report) {
    std::vector<const TransferWindow*> bars;
    std::uint64_t last_ps = 1;
    for (const TransferWindow& window : report.windows) {
        if (window.rank == report.windows.front().rank && bars.size() < kMostBars) {
            bars.push_back(&window);
            last_ps = std::max({last_ps, window.end.ps, window.start.ps});
        }
    }
    const int height = kTop + kBarHeight * static_cast<int>(bars.size()) + kBarHeight;
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" "
        "font-family=\"sans-serif\" font-size=\"10\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        "<text x=\"4\" y=\"16\">windows of gradient transfers, from the start of the iteration; "
        "all of it is {}</text>\n",
        kNameWidth + kPlotWidth + 20,
        height,
        to_text(Duration{last_ps}));
    const auto x_of = [&](std::uint64_t ps) {
        return kNameWidth + kPlotWidth * (static_cast<double>(ps) / static_cast<double>(last_ps));
    };
    const auto draw = [&](int y, std::uint64_t from_ps, std::uint64_t to_ps, const char* colour) {
        const double width = std::max(x_of(std::max(from_ps, to_ps)) - x_of(from_ps), 1.0);
        fmt::format_to(Out(text),
                       "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"/>\n",
                       x_of(from_ps),
                       y,
                       width,
                       kBarHeight - 3,
                       colour);
    };
    for (std::size_t i = 0; i < bars.size(); ++i) {
        const TransferWindow& window = *bars[i];
        const int y = kTop + kBarHeight * static_cast<int>(i);
        fmt::format_to(Out(text),
                       "<text x=\"4\" y=\"{}\">{}</text>\n",
                       y + kBarHeight - 4,
                       xml_text(label_of(window)));
        draw(y, window.start.ps, window.end.ps, "#9ecae1");
        if (window.cost) {
            const std::uint64_t done_ps = saturating_add(window.start.ps, window.cost->ps);
            draw(y, window.start.ps, std::min(done_ps, last_ps), "#08519c");
        }
    }
    return text + "</svg>\n";
}

}  // namespace astra
