#include "astra/results/flow_files.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "astra/config/units.h"
#include "astra/results/csv_field.h"

namespace astra {

namespace {

constexpr std::size_t kUsualLine = 64;

void add_number(std::string& text, std::uint64_t number) {
    const fmt::format_int digits(number);
    text.append(digits.data(), digits.size());
}

// Nothing for one that the run has not come to.
void add_time(std::string& text, SimTime time) {
    if (time.ps != kMaxPs) {
        add_number(text, time.ps);
    }
    text += ',';
}

}  // namespace

std::string flows_json(const RunResult& result) {
    if (!result.flow_statistics) {
        return "";
    }
    const FlowStatistics& s = *result.flow_statistics;
    return fmt::format(
        R"(  "flows": {{"count": {}, "bytes": {}, "makespan_ps": {}, "mean_finish_ps": {}, )"
        R"("duration_ps": {{"min": {}, "mean": {}, "p50": {}, "p90": {}, "p99": {}, )"
        R"("p999": {}, "max": {}}}, )"
        R"("slowdown": {{"p50": {:.4f}, "p99": {:.4f}, "max": {:.4f}}}}},)"
        "\n",
        s.count,
        s.bytes,
        s.makespan.ps,
        s.mean_finish.ps,
        s.least.ps,
        s.mean.ps,
        s.p50.ps,
        s.p90.ps,
        s.p99.ps,
        s.p999.ps,
        s.most.ps,
        s.slowdown_p50,
        s.slowdown_p99,
        s.slowdown_most);
}

// Written without a table of columns: there may be millions of flows.
std::string flows_csv(const RunResult& result) {
    const bool named = std::any_of(
        result.jobs.begin(), result.jobs.end(), [](const auto& name) { return !name.empty(); });
    std::vector<std::string> endings;
    for (const std::string& name : result.jobs) {
        endings.push_back(named ? "," + csv_field(name) + "\n" : "\n");
    }
    std::string text = "id,src,dst,bytes,after,start_ps,finish_ps,duration_ps,slowdown";
    text += named ? ",job\n" : "\n";
    text.reserve(text.size() + result.flows.size() * kUsualLine);
    for (const FlowRecord& flow : result.flows) {
        for (const std::uint64_t number : {flow.id,
                                           std::uint64_t{index(flow.source)},
                                           std::uint64_t{index(flow.destination)},
                                           flow.bytes.count,
                                           flow.after}) {
            add_number(text, number);
            text += ',';
        }
        add_time(text, flow.start);
        add_time(text, flow.finish);
        if (flow.finish.ps != kMaxPs) {
            add_number(text, (flow.finish - flow.start).ps);
        }
        text += ',';
        if (flow.has_slowdown()) {
            fmt::format_to(std::back_inserter(text), "{:.4f}", flow.slowdown());
        }
        text += endings[flow.job];
    }
    return text;
}

std::string flows_summary(const RunResult& result) {
    if (!result.flow_statistics) {
        return "";
    }
    const FlowStatistics& s = *result.flow_statistics;
    return fmt::format(
        "flows            {}, {} in all; makespan {}, mean finish {}\n"
        "flow times       min {}, mean {}, median {}, 90 % {}, 99 % {}, 99.9 % {}, max {}\n"
        "flow slowdown    median {:.2f}, 99 % {:.2f}, max {:.2f} times what a flow takes alone\n",
        s.count,
        to_text(Bytes{s.bytes}),
        to_text(s.makespan),
        to_text(Duration{s.mean_finish.ps}),
        to_text(s.least),
        to_text(s.mean),
        to_text(s.p50),
        to_text(s.p90),
        to_text(s.p99),
        to_text(s.p999),
        to_text(s.most),
        s.slowdown_p50,
        s.slowdown_p99,
        s.slowdown_most);
}

}  // namespace astra
