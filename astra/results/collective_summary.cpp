#include "astra/results/collective_summary.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "astra/config/units.h"
#include "astra/results/summary.h"

namespace astra {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t kRows = 12;

// Groups of as many ranks, as far from each other, are of one class: those of tensor parallelism.
struct Class {
    CollectiveKind kind{};
    std::string algorithm;
    std::uint32_t ranks = 0;
    std::uint32_t stride = 0;
    std::uint64_t total_bytes = 0;

    auto key() const { return std::tie(kind, algorithm, ranks, stride, total_bytes); }
    bool operator<(const Class& other) const { return key() < other.key(); }
};

struct Total {
    std::uint64_t count = 0;
    std::set<std::string_view> groups;
    double waited = 0;   // seconds, from the first arrival to the last
    double seconds = 0;  // from then on
    double bus_bytes = 0;
    double exposed = 0;         // seconds, of all ranks
    bool beyond_links = false;  // of some
};

std::map<Class, Total> class_totals(const RunResult& result) {
    std::map<Class, Total> totals;
    for (const CollectiveRecord& c : result.collectives) {
        if (!c.ended) {
            continue;
        }
        Total& total = totals[{c.kind, c.algorithm, c.ranks, c.stride, c.total_bytes.count}];
        ++total.count;
        total.groups.insert(c.group);
        total.waited += static_cast<double>(c.wait().ps) * 1e-12;
        total.seconds += static_cast<double>(c.transfer().ps) * 1e-12;
        total.bus_bytes += static_cast<double>(c.total_bytes.count) * bus_factor(c.kind, c.ranks);
        total.exposed += static_cast<double>(c.exposed.ps) * 1e-12;
        total.beyond_links = total.beyond_links || c.beyond_links();
    }
    return totals;
}

std::string seconds_text(double seconds) {
    return to_text(Duration{static_cast<std::uint64_t>(std::llround(seconds * 1e12))});
}

std::string groups_text(const Class& of, const Total& total) {
    const std::string distance = of.stride == 1   ? ""
                                 : of.stride == 0 ? ", uneven"
                                                  : fmt::format(", {} apart", of.stride);
    return total.groups.size() == 1
               ? fmt::format("{}{}", of.ranks, distance)
               : fmt::format("{} x {}{}", total.groups.size(), of.ranks, distance);
}

void write_class_row(std::string& text, const Class& of, const Total& total) {
    const auto count = static_cast<double>(total.count);
    const double ranks = static_cast<double>(total.groups.size()) * of.ranks;
    fmt::format_to(
        Out(text),
        "                 {:<14} {:<26} {:>18} {:>6} {:>10} {:>10} {:>10} {:>10} {:>10}{}\n",
        name_of(of.kind),
        of.algorithm,
        groups_text(of, total),
        total.count,
        to_text(Bytes{of.total_bytes}),
        seconds_text(total.waited / count),
        seconds_text(total.seconds / count),
        total.seconds > 0 ? fmt::format("{:.3f}", total.bus_bytes / total.seconds / 1e9) : "-",
        seconds_text(total.exposed / ranks),
        total.beyond_links ? " !" : "");
}

// Why some are marked.
void write_beyond_links(std::string& text, const RunResult& result) {
    std::uint64_t count = 0;
    double seconds = 0;
    double need_seconds = 0;
    bool all_measured = true;
    for (const CollectiveRecord& c : result.collectives) {
        if (c.beyond_links()) {
            ++count;
            all_measured = all_measured && c.algorithm == "measured";
            seconds += static_cast<double>((c.end - c.start).ps) * 1e-12;
            need_seconds += static_cast<double>(c.need.ps) * 1e-12;
        }
    }
    if (count > 0) {
        fmt::format_to(
            Out(text),
            "                 ! beyond what the links can carry, as {}: {} of {},\n"
            "                   for which the busiest link has {:.2f} times the work that fits\n",
            all_measured ? "measured times are taken as they are"
                         : "messages do not share links on " + result.backend,
            count,
            result.collectives.size(),
            need_seconds / seconds);
    }
}

}  // namespace

void write_collective_summary(std::string& text, const RunResult& result) {
    if (result.collectives.empty()) {
        return;
    }
    const std::map<Class, Total> totals = class_totals(result);
    std::vector<const std::pair<const Class, Total>*> rows;
    rows.reserve(totals.size());
    for (const auto& row : totals) {
        rows.push_back(&row);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
        return std::pair(a->second.exposed, a->second.seconds) >
               std::pair(b->second.exposed, b->second.seconds);
    });
    fmt::format_to(
        Out(text),
        "collectives      {:<14} {:<26} {:>18} {:>6} {:>10} {:>10} {:>10} {:>10} {:>10}\n",
        "kind",
        "algorithm",
        "ranks",
        "count",
        "buffer",
        "mean wait",
        "mean time",
        "busbw GB/s",
        "exposed");
    for (std::size_t row = 0; row < std::min(rows.size(), kRows); ++row) {
        write_class_row(text, rows[row]->first, rows[row]->second);
    }
    if (rows.size() > kRows) {
        fmt::format_to(
            Out(text), "                 … and {} rows more, exposed less\n", rows.size() - kRows);
    }
    write_beyond_links(text, result);
    const auto running = std::count_if(result.collectives.begin(),
                                       result.collectives.end(),
                                       [](const auto& c) { return !c.ended; });
    if (running > 0) {
        fmt::format_to(Out(text), "                 and {} that had not ended\n", running);
    }
}

}  // namespace astra
