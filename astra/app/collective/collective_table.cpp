#include "astra/app/collective/collective_table.h"

#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "astra/results/summary.h"

namespace astra {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::uint64_t kElementBytes = 4;  // nccl-tests' float

// The times of one size, by the column of their algorithm.
using Row = std::map<std::string, const CollectiveTime*>;

// Of those that the links can carry, if there are such.
const CollectiveTime* fastest(const Row& row) {
    const auto is_better = [](const CollectiveTime& a, const CollectiveTime& b) {
        return a.beyond_links() != b.beyond_links() ? b.beyond_links() : a.time < b.time;
    };
    const CollectiveTime* best = nullptr;
    for (const auto& [algorithm, time] : row) {
        if (best == nullptr || is_better(*time, *best)) {
            best = time;
        }
    }
    return best;
}

void write_beyond_links(std::string& text, const std::map<std::uint64_t, Row>& rows) {
    const CollectiveTime* worst = nullptr;
    const auto excess = [](const CollectiveTime& t) {
        return static_cast<double>(t.need.ps) / static_cast<double>(t.time.ps);
    };
    for (const auto& [bytes, row] : rows) {
        for (const auto& [algorithm, time] : row) {
            if (time->beyond_links() && (worst == nullptr || excess(*time) > excess(*worst))) {
                worst = time;
            }
        }
    }
    if (worst != nullptr) {
        fmt::format_to(
            Out(text),
            "# !: beyond what the links can carry, as {}. "
            "The worst: {}\n#    at {} B takes {:.2f} us, and its busiest link needs {:.2f}.\n",
            worst->algorithm == "measured"
                ? "measured times are taken as they are"
                : "messages do not share links on this backend (--backend=flow: they do)",
            worst->algorithm,
            worst->bytes.count,
            static_cast<double>(worst->time.ps) / 1e6,
            static_cast<double>(worst->need.ps) / 1e6);
    }
}

void write_header(std::string& text,
                  CollectiveKind kind,
                  const std::vector<std::string>& algorithms,
                  bool compares) {
    fmt::format_to(Out(text), "# {}\n{:>14} {:>13} {:>6}", name_of(kind), "", "", "");
    for (const std::string& algorithm : algorithms) {
        fmt::format_to(Out(text), "  {:>30} ", algorithm);
    }
    fmt::format_to(Out(text), "\n{:>14} {:>13} {:>6}", "size (B)", "count", "type");
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
        fmt::format_to(Out(text), "  {:>12} {:>8} {:>8} ", "time (us)", "algbw", "busbw");
    }
    text += compares ? "   measured   error\n" : "\n";
}

// "# auto: ring/LL to 65536 B, nvls/NVLS to 4194304 B": what ran where the name does not say it.
void write_picks(std::string& text,
                 const std::string& algorithm,
                 const std::map<std::uint64_t, Row>& rows) {
    std::string line;
    const CollectiveTime* last = nullptr;
    const auto close_range = [&] {
        if (last != nullptr) {
            line += fmt::format(
                "{} {} to {} B", line.empty() ? "" : ",", last->picked, last->bytes.count);
        }
    };
    bool says_more = false;
    for (const auto& [bytes, row] : rows) {
        const auto found = row.find(algorithm);
        if (found == row.end()) {
            continue;
        }
        if (last != nullptr && last->picked != found->second->picked) {
            close_range();
        }
        last = found->second;
        says_more = says_more || last->picked != algorithm;
    }
    close_range();
    if (says_more) {
        fmt::format_to(Out(text), "# {}:{}\n", algorithm, line);
    }
}

}  // namespace

double CollectiveTime::algorithm_bandwidth() const {
    return time.ps == 0 ? 0 : static_cast<double>(bytes.count) * 1e3 / static_cast<double>(time.ps);
}

double CollectiveTime::bus_bandwidth() const {
    return algorithm_bandwidth() * bus_factor(kind, ranks);
}

std::string collective_table(CollectiveKind kind,
                             const std::vector<std::string>& algorithms,
                             const std::vector<CollectiveTime>& times,
                             const MeasuredBandwidths& measured) {
    std::map<std::uint64_t, Row> rows;
    for (const CollectiveTime& time : times) {
        if (time.kind == kind) {
            rows[time.bytes.count][time.algorithm] = &time;
        }
    }
    std::string text;
    write_header(text, kind, algorithms, !measured.empty());
    double error_sum = 0;
    std::size_t errors = 0;
    for (const auto& [bytes, row] : rows) {
        const CollectiveTime* best = fastest(row);
        fmt::format_to(Out(text), "{:>14} {:>13} {:>6}", bytes, bytes / kElementBytes, "float");
        for (const std::string& algorithm : algorithms) {
            const auto found = row.find(algorithm);
            if (found == row.end()) {
                fmt::format_to(Out(text), "  {:>12} {:>8} {:>8} ", "-", "-", "-");
                continue;
            }
            const CollectiveTime& time = *found->second;
            fmt::format_to(Out(text),
                           "  {:>12.2f} {:>8.2f} {:>8.2f}{}",
                           static_cast<double>(time.time.ps) / 1e6,
                           time.algorithm_bandwidth(),
                           time.bus_bandwidth(),
                           time.beyond_links() ? '!'
                           : &time == best     ? '*'
                                               : ' ');
        }
        const auto reference = measured.find(bytes);
        if (reference != measured.end()) {
            const double error = 100 * (best->bus_bandwidth() / reference->second - 1);
            fmt::format_to(Out(text), "  {:>9.2f} {:>+6.1f}%", reference->second, error);
            error_sum += std::abs(error);
            ++errors;
        }
        text += "\n";
    }
    for (const std::string& algorithm : algorithms) {
        write_picks(text, algorithm, rows);
    }
    write_beyond_links(text, rows);
    if (errors > 0) {
        fmt::format_to(Out(text),
                       "# mean absolute error of the bus bandwidth: {:.2f} % over {} sizes\n",
                       error_sum / static_cast<double>(errors),
                       errors);
    }
    return text;
}

std::string collectives_measured_csv(const std::vector<CollectiveTime>& times) {
    std::string text =
        "collective,algorithm,ranks,bytes,time_ps,algbw_GBps,busbw_GBps,picked,beyond_links\n";
    for (const CollectiveTime& time : times) {
        fmt::format_to(Out(text),
                       "{},{},{},{},{},{:.6f},{:.6f},{},{}\n",
                       name_of(time.kind),
                       time.algorithm,
                       time.ranks,
                       time.bytes.count,
                       time.time.ps,
                       time.algorithm_bandwidth(),
                       time.bus_bandwidth(),
                       time.picked,
                       time.beyond_links());
    }
    return text;
}

std::string collectives_measured_json(const std::vector<CollectiveTime>& times) {
    std::string text = "[";
    for (const CollectiveTime& time : times) {
        fmt::format_to(
            Out(text),
            R"({}  {{"collective": "{}", "algorithm": "{}", "ranks": {}, "bytes": {}, )"
            R"("time_ps": {}, "algbw_GBps": {:.6f}, "busbw_GBps": {:.6f}, "picked": "{}", "beyond_links": {}}})",
            text.size() == 1 ? "\n" : ",\n",
            name_of(time.kind),
            time.algorithm,
            time.ranks,
            time.bytes.count,
            time.time.ps,
            time.algorithm_bandwidth(),
            time.bus_bandwidth(),
            time.picked,
            time.beyond_links());
    }
    return text + (times.empty() ? "]\n" : "\n]\n");
}

}  // namespace astra
