#include "astra/results/window_files.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "astra/config/units.h"
#include "astra/results/csv_field.h"

namespace astra {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t kMostBars = 1000;
constexpr double kWidth = 1000;  // of the time axis, in pixels
constexpr double kLeft = 200;
constexpr double kTop = 60;
constexpr double kRow = 14;
constexpr std::size_t kLongestName = 28;

std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text.substr(0, kLongestName)) {
        if (c == '<' || c == '>' || c == '&' || c == '"') {
            fmt::format_to(Out(result), "&#{};", static_cast<int>(c));
        } else {
            // Names may be cut within a character, or hold anything.
            result += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e
                          ? '?'
                          : c;
        }
    }
    return result;
}

class Axis {
  public:
    explicit Axis(const std::vector<WindowRecord>& windows) {
        for (const WindowRecord& w : windows) {
            most_ps_ = std::max({most_ps_, w.free_end.ps, w.read.ps, w.end.ps});
        }
    }
    double at(Duration time) const {
        return kLeft + kWidth * static_cast<double>(time.ps) / static_cast<double>(most_ps_);
    }
    Duration end() const { return {most_ps_}; }
    void bar(std::string& svg,
             Duration from,
             Duration to,
             double y,
             double height,
             const char* fill) const {
        fmt::format_to(
            Out(svg),
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
            at(from),
            y,
            std::max(at(std::max(to, from)) - at(from), 0.5),
            height,
            fill);
    }

  private:
    std::uint64_t most_ps_ = 1;
};

}  // namespace

std::string windows_csv(const RunResult& result) {
    std::string text =
        "group,transfer,name,bytes,priority,cost_ps,before_start_ps,before_end_ps,before_slack_ps,"
        "ready_ps,launch_ps,reduced_ps,read_ps,slack_ps\n";
    const auto slack = [](Duration from, Duration to, Duration cost) {
        return static_cast<std::int64_t>(to.ps) - static_cast<std::int64_t>(from.ps) -
               static_cast<std::int64_t>(cost.ps);
    };
    for (const WindowRecord& w : result.windows) {
        fmt::format_to(Out(text),
                       "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                       csv_field(result.communicators[w.communicator].group),
                       w.transfer,
                       csv_field(std::string(w.name)),
                       w.bytes.count,
                       w.priority,
                       w.cost.ps,
                       w.free_start.ps,
                       w.free_end.ps,
                       slack(w.free_start, w.free_end, w.cost),
                       w.ready.ps,
                       w.start.ps,
                       w.end.ps,
                       w.read.ps,
                       slack(w.ready, w.read, w.cost));
    }
    return text;
}

std::string windows_svg(const RunResult& result) {
    std::vector<WindowRecord> windows = result.windows;
    std::stable_sort(windows.begin(), windows.end(), [](const auto& a, const auto& b) {
        return a.communicator != b.communicator ? a.communicator < b.communicator
                                                : a.priority < b.priority;
    });
    const std::size_t left_out = windows.size() - std::min(windows.size(), kMostBars);
    windows.resize(windows.size() - left_out);
    const Axis axis(windows);
    const double bottom = kTop + kRow * static_cast<double>(windows.size());
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" "
        "font-family=\"sans-serif\" font-size=\"10\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        "<text x=\"10\" y=\"18\" font-size=\"14\">Windows of gradient transfers from the start of "
        "an iteration</text>\n"
        "<text x=\"10\" y=\"36\">grey: nobody waits for a transfer; light blue: in the run, from "
        "the gradient to its first reader; dark blue: from launch to reduced{}</text>\n",
        kLeft + kWidth + 40,
        bottom + 30,
        left_out > 0 ? fmt::format("; {} tensors more are not shown", left_out) : "");
    double y = kTop;
    for (const WindowRecord& w : windows) {
        fmt::format_to(Out(svg),
                       "<text x=\"10\" y=\"{:.1f}\">{}</text>"
                       "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                       y + 9,
                       escaped(w.name),
                       kLeft - 5,
                       y + 9,
                       to_text(w.bytes));
        axis.bar(svg, w.free_start, w.free_end, y, 4, "#b5b5b5");
        axis.bar(svg, w.ready, w.read, y + 5, 6, "#9ec5e8");
        axis.bar(svg, w.start, w.end, y + 5, 6, "#1f4e9c");
        y += kRow;
    }
    for (const std::uint64_t quarter : {0U, 1U, 2U, 3U, 4U}) {
        const Duration time{axis.end().ps / 4 * quarter};
        fmt::format_to(Out(svg),
                       "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" "
                       "stroke=\"#dddddd\"/><text x=\"{0:.1f}\" y=\"{3:.1f}\" "
                       "text-anchor=\"middle\">{4}</text>\n",
                       axis.at(time),
                       kTop - 6,
                       bottom + 4,
                       bottom + 18,
                       to_text(time));
    }
    return svg + "</svg>\n";
}

}  // namespace astra
