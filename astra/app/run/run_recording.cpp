#include "astra/app/run/run_recording.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "astra/core/text/nearest.h"

namespace astra {

namespace {

struct Recordable {
    std::string_view name;
    std::string_view doc;
    bool Recording::*flag;  // null: always recorded
};

constexpr std::array kRecordables = {
    Recordable{"links", "always", nullptr},
    Recordable{"flows", "flows.csv: when each message was sent and received", &Recording::flows},
    Recordable{
        "queues", "queues.csv: links in intervals of output.sample_interval", &Recording::queues},
    Recordable{"ops", "ops.csv: when each op ran", &Recording::ops},
    Recordable{"transfers",
               "windows.csv and windows.svg: gradient transfers of an iteration",
               &Recording::transfers},
};

std::vector<Choice> recordable_choices() {
    std::vector<Choice> choices;
    for (const Recordable& recordable : kRecordables) {
        choices.push_back({std::string(recordable.name), std::string(recordable.doc)});
    }
    return choices;
}

const Recordable& recordable_named(const std::string& name) {
    std::vector<std::string> names;
    for (const Recordable& recordable : kRecordables) {
        if (recordable.name == name) {
            return recordable;
        }
        names.emplace_back(recordable.name);
    }
    throw ConfigError(
        fmt::format("--record: nothing called '{}'{}", name, suggestion(name, names)));
}

}  // namespace

void declare_timeline_options(OptionSet& options) {
    options.add_value("timeline",
                      "FILE",
                      "writes what every rank and link did, for ui.perfetto.dev: a name in .json "
                      "makes a Chrome trace");
    options.add_value(
        "timeline-ranks", "LIST", "only these ranks in it, as in 0-3,8 (default: all)");
    options.add_value("timeline-from", "TIME", "without what ends before, as in 5ms (default 0)");
    options.add_value("timeline-until", "TIME", "without what begins after (default: the end)");
    options.add_value("timeline-least", "TIME", "without what takes less (default 0)");
}

void declare_record_option(OptionSet& options) {
    options.add_described_value("record", "LIST", "what to record", recordable_choices());
}

Recording read_recording(const OptionSet& options) {
    Recording recording;
    const std::string list = options.value("record").value_or("");
    for (std::size_t begin = 0; begin < list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const Recordable& recordable = recordable_named(list.substr(begin, end - begin));
        if (recordable.flag != nullptr) {
            recording.*recordable.flag = true;
        }
        begin = end + 1;
    }
    return recording;
}

std::optional<TimelineOptions> read_timeline(const OptionSet& options) {
    const auto path = options.value("timeline");
    if (!path) {
        for (const char* name :
             {"timeline-ranks", "timeline-from", "timeline-until", "timeline-least"}) {
            if (options.value(name)) {
                throw ConfigError(fmt::format("--{} goes with --timeline", name));
            }
        }
        return std::nullopt;
    }
    if (path->empty()) {
        throw ConfigError("--timeline: needs the name of a file");
    }
    TimelineOptions timeline;
    timeline.path = *path;
    if (const auto ranks = options.value("timeline-ranks")) {
        timeline.ranks = parse_rank_ranges(*ranks);
    }
    timeline.from.ps = options.duration("timeline-from").value_or(Duration{}).ps;
    timeline.until.ps = options.duration("timeline-until").value_or(Duration{kMaxPs - 1}).ps;
    timeline.least = options.duration("timeline-least").value_or(Duration{});
    return timeline;
}

}  // namespace astra
