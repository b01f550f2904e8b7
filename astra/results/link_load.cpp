#include "astra/results/link_load.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "astra/config/units.h"
#include "astra/core/text/json_text.h"

namespace astra {

namespace {

struct LinkLoad {
    std::string from;
    std::string to;
    Duration interval;
    std::uint64_t bytes = 0;
    std::uint64_t peak_bytes = 0;  // of an interval
    std::uint64_t intervals = 0;   // until the last one in which any link carried something

    double peak_to_mean() const {
        return static_cast<double>(peak_bytes) * static_cast<double>(intervals) /
               static_cast<double>(bytes);
    }
};

std::optional<LinkLoad> busiest(const RunResult& result) {
    std::map<std::pair<std::string, std::string>, LinkLoad> loads;
    SimTime end;
    for (const LinkSampleRecord& sample : result.link_samples) {
        LinkLoad& load = loads[{sample.from, sample.to}];
        load.interval = sample.interval;
        load.bytes += sample.bytes.count;
        load.peak_bytes = std::max(load.peak_bytes, sample.bytes.count);
        end = std::max(end, sample.end);
    }
    const auto most =
        std::max_element(loads.begin(), loads.end(), [](const auto& a, const auto& b) {
            return a.second.bytes < b.second.bytes;
        });
    if (most == loads.end() || most->second.bytes == 0) {
        return std::nullopt;
    }
    LinkLoad load = most->second;
    load.from = most->first.first;
    load.to = most->first.second;
    load.intervals = end.ps / load.interval.ps;
    return load;
}

}  // namespace

std::string link_load_json(const RunResult& result) {
    const auto load = busiest(result);
    if (!load) {
        return "";
    }
    return fmt::format(
        "  \"link_load\": {{\"from\": {}, \"to\": {}, \"interval_ps\": {}, \"intervals\": {}, "
        "\"bytes\": {}, \"peak_bytes\": {}, \"peak_to_mean\": {:.6f}}},\n",
        json_text(load->from),
        json_text(load->to),
        load->interval.ps,
        load->intervals,
        load->bytes,
        load->peak_bytes,
        load->peak_to_mean());
}

std::string link_load_summary(const RunResult& result) {
    const auto load = busiest(result);
    if (!load) {
        return "";
    }
    return fmt::format("link load        {} -> {}: at most {} in {}, {:.2f} times the mean\n",
                       load->from,
                       load->to,
                       to_text(Bytes{load->peak_bytes}),
                       to_text(load->interval),
                       load->peak_to_mean());
}

}  // namespace astra
