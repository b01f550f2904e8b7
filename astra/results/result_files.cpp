#include "astra/results/result_files.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "astra/core/text/json_text.h"
#include "astra/core/version.h"
#include "astra/results/csv_field.h"
#include "astra/results/flow_files.h"
#include "astra/results/link_load.h"
#include "astra/results/packet_totals.h"
#include "astra/results/training_files.h"
#include "astra/results/window_files.h"

namespace astra {

namespace {

using Out = std::back_insert_iterator<std::string>;

// A field of a record, as it is called in both kinds of files.
template <class Record>
struct Column {
    std::string_view name;
    bool is_text = false;
    std::string (*value)(const Record& record) = nullptr;  // "": there is none
};

std::string text_of(std::uint64_t number) {
    return std::to_string(number);
}

constexpr std::array kRankColumns = {
    Column<RankRecord>{"rank", false, [](const auto& r) { return text_of(index(r.rank)); }},
    Column<RankRecord>{"finish_ps", false, [](const auto& r) { return text_of(r.finish.ps); }},
    Column<RankRecord>{"compute_ps", false, [](const auto& r) { return text_of(r.compute.ps); }},
    Column<RankRecord>{
        "communication_ps", false, [](const auto& r) { return text_of(r.communication.ps); }},
    Column<RankRecord>{"memory_ps", false, [](const auto& r) { return text_of(r.memory.ps); }},
    Column<RankRecord>{"exposed_communication_ps",
                       false,
                       [](const auto& r) { return text_of(r.exposed_communication.ps); }},
    Column<RankRecord>{"waiting_ps", false, [](const auto& r) { return text_of(r.waiting.ps); }},
    Column<RankRecord>{
        "exposed_memory_ps", false, [](const auto& r) { return text_of(r.exposed_memory.ps); }},
    Column<RankRecord>{"idle_ps", false, [](const auto& r) { return text_of(r.idle.ps); }},
    Column<RankRecord>{
        "waited_for_ps", false, [](const auto& r) { return text_of(r.waited_for.ps); }},
};

constexpr std::array kCollectiveColumns = {
    Column<CollectiveRecord>{"group", true, [](const auto& c) { return c.group; }},
    Column<CollectiveRecord>{"sequence", false, [](const auto& c) { return text_of(c.sequence); }},
    Column<CollectiveRecord>{
        "kind", true, [](const auto& c) { return std::string(name_of(c.kind)); }},
    Column<CollectiveRecord>{"algorithm", true, [](const auto& c) { return c.algorithm; }},
    Column<CollectiveRecord>{"bytes", false, [](const auto& c) { return text_of(c.bytes.count); }},
    Column<CollectiveRecord>{"ranks", false, [](const auto& c) { return text_of(c.ranks); }},
    Column<CollectiveRecord>{"start_ps", false, [](const auto& c) { return text_of(c.start.ps); }},
    Column<CollectiveRecord>{
        "end_ps", false, [](const auto& c) { return c.ended ? text_of(c.end.ps) : ""; }},
    Column<CollectiveRecord>{
        "last_arrival_ps",
        false,
        [](const auto& c) { return c.everyone_came ? text_of(c.last_arrival.ps) : ""; }},
    Column<CollectiveRecord>{
        "waited_for_rank",
        false,
        [](const auto& c) { return c.has_wait() ? text_of(index(c.last)) : ""; }},
    Column<CollectiveRecord>{
        "wait_ps",
        false,
        [](const auto& c) { return c.everyone_came ? text_of(c.wait().ps) : ""; }},
    Column<CollectiveRecord>{"transfer_ps",
                             false,
                             [](const auto& c) { return c.ended ? text_of(c.transfer().ps) : ""; }},
    Column<CollectiveRecord>{
        "exposed_ps", false, [](const auto& c) { return text_of(c.exposed.ps); }},
    Column<CollectiveRecord>{
        "beyond_links",
        false,
        [](const auto& c) { return std::string(c.beyond_links() ? "true" : "false"); }},
};

constexpr std::array kLinkColumns = {
    Column<LinkRecord>{"from", true, [](const auto& l) { return l.from; }},
    Column<LinkRecord>{"to", true, [](const auto& l) { return l.to; }},
    Column<LinkRecord>{"bytes", false, [](const auto& l) { return text_of(l.bytes.count); }},
    Column<LinkRecord>{"busy_ps", false, [](const auto& l) { return text_of(l.busy.ps); }},
};

constexpr std::array kDimensionColumns = {
    Column<DimensionRecord>{"dimension", false, [](const auto& d) { return text_of(d.dimension); }},
    Column<DimensionRecord>{"topology", true, [](const auto& d) { return d.topology; }},
    Column<DimensionRecord>{"links", false, [](const auto& d) { return text_of(d.links); }},
    Column<DimensionRecord>{"bytes", false, [](const auto& d) { return text_of(d.bytes.count); }},
    Column<DimensionRecord>{
        "mean_busy_ps", false, [](const auto& d) { return text_of(d.mean_busy.ps); }},
};

// With packets, also what became of them.
constexpr std::array kPacketLinkColumns = {
    kLinkColumns[0],
    kLinkColumns[1],
    kLinkColumns[2],
    kLinkColumns[3],
    Column<LinkRecord>{
        "payload_bytes", false, [](const auto& l) { return text_of(l.payload.count); }},
    Column<LinkRecord>{
        "peak_queue_bytes", false, [](const auto& l) { return text_of(l.peak_queue.count); }},
    Column<LinkRecord>{"pauses", false, [](const auto& l) { return text_of(l.pauses); }},
    Column<LinkRecord>{"marks", false, [](const auto& l) { return text_of(l.marks); }},
    Column<LinkRecord>{"trims", false, [](const auto& l) { return text_of(l.trims); }},
    Column<LinkRecord>{"drops", false, [](const auto& l) { return text_of(l.drops); }},
    Column<LinkRecord>{"repeats", false, [](const auto& l) { return text_of(l.repeats); }},
    Column<LinkRecord>{"paused_ps", false, [](const auto& l) { return text_of(l.paused.ps); }},
};

constexpr std::array kOpColumns = {
    Column<OpRecord>{"rank", false, [](const auto& o) { return text_of(index(o.rank)); }},
    Column<OpRecord>{"node", false, [](const auto& o) { return text_of(o.node_id); }},
    Column<OpRecord>{"name", true, [](const auto& o) { return std::string(o.name); }},
    Column<OpRecord>{"kind", true, [](const auto& o) { return std::string(o.kind); }},
    Column<OpRecord>{"start_ps", false, [](const auto& o) { return text_of(o.start.ps); }},
    Column<OpRecord>{"end_ps", false, [](const auto& o) { return text_of(o.end.ps); }},
};

// The bytes of an interval are whole, so that there may be one too many in it: that one shall not
// look like a link beyond its rate.
std::uint64_t rate_of(const LinkSampleRecord& sample) {
    const auto rate = static_cast<std::uint64_t>(static_cast<double>(sample.bytes.count) * 8e12 /
                                                 static_cast<double>(sample.interval.ps));
    const bool rounded = sample.bytes.count <= bytes_in(sample.interval, sample.capacity) + 1;
    return rounded ? std::min(rate, sample.capacity.bits_per_s) : rate;
}

constexpr std::array kQueueColumns = {
    Column<LinkSampleRecord>{"end_ps", false, [](const auto& s) { return text_of(s.end.ps); }},
    Column<LinkSampleRecord>{"from", true, [](const auto& s) { return s.from; }},
    Column<LinkSampleRecord>{"to", true, [](const auto& s) { return s.to; }},
    Column<LinkSampleRecord>{"bytes", false, [](const auto& s) { return text_of(s.bytes.count); }},
    Column<LinkSampleRecord>{"rate_bps", false, [](const auto& s) { return text_of(rate_of(s)); }},
    Column<LinkSampleRecord>{"utilisation",
                             false,
                             [](const auto& s) {
                                 return fmt::format("{:.6f}",
                                                    static_cast<double>(rate_of(s)) /
                                                        static_cast<double>(s.capacity.bits_per_s));
                             }},
    Column<LinkSampleRecord>{
        "queue_bytes", false, [](const auto& s) { return text_of(s.queued.count); }},
};

// With packets, also what became of them.
constexpr std::array kPacketQueueColumns = {
    kQueueColumns[0],
    kQueueColumns[1],
    kQueueColumns[2],
    kQueueColumns[3],
    kQueueColumns[4],
    kQueueColumns[5],
    kQueueColumns[6],
    Column<LinkSampleRecord>{
        "queue_mean_bytes", false, [](const auto& s) { return text_of(s.mean_queue.count); }},
    Column<LinkSampleRecord>{
        "queue_max_bytes", false, [](const auto& s) { return text_of(s.most_queue.count); }},
    Column<LinkSampleRecord>{
        "paused_ps", false, [](const auto& s) { return text_of(s.paused.ps); }},
    Column<LinkSampleRecord>{"marks", false, [](const auto& s) { return text_of(s.marks); }},
    Column<LinkSampleRecord>{"trims", false, [](const auto& s) { return text_of(s.trims); }},
    Column<LinkSampleRecord>{"drops", false, [](const auto& s) { return text_of(s.drops); }},
    Column<LinkSampleRecord>{"repeats", false, [](const auto& s) { return text_of(s.repeats); }},
};

// A JSON list of objects, one a line.
template <class Record, std::size_t N>
void write_list(std::string& text,
                std::string_view name,
                const std::vector<Record>& records,
                const std::array<Column<Record>, N>& columns) {
    fmt::format_to(Out(text), "  \"{}\": [", name);
    const char* separator = "\n";
    for (const Record& record : records) {
        text += separator;
        text += "    {";
        for (const auto& column : columns) {
            const std::string value = column.value(record);
            fmt::format_to(Out(text),
                           "{}\"{}\": {}",
                           &column == columns.data() ? "" : ", ",
                           column.name,
                           column.is_text  ? json_text(value)
                           : value.empty() ? "null"
                                           : value);
        }
        text += "}";
        separator = ",\n";
    }
    text += records.empty() ? "],\n" : "\n  ],\n";
}

template <class Record, std::size_t N>
std::string csv(const std::vector<Record>& records, const std::array<Column<Record>, N>& columns) {
    std::string text;
    for (const auto& column : columns) {
        text += &column == columns.data() ? "" : ",";
        text += column.name;
    }
    text += "\n";
    for (const Record& record : records) {
        for (const auto& column : columns) {
            text += &column == columns.data() ? "" : ",";
            text += csv_field(column.value(record));
        }
        text += "\n";
    }
    return text;
}

std::string unfinished_json(const RunResult& result) {
    return result.unfinished.empty()
               ? ""
               : fmt::format(
                     "  \"unfinished\": true,\n  \"unfinished_because\": {},\n"
                     "  \"unfinished_ranks\": {},\n",
                     json_text(result.unfinished),
                     result.unfinished_ranks);
}

std::string indented(const std::string& json) {
    std::string result;
    for (const char c : json) {
        result += c;
        if (c == '\n') {
            result += "  ";
        }
    }
    return result;
}

}  // namespace

std::string result_json(const RunResult& result) {
    std::string text;
    fmt::format_to(Out(text),
                   "{{\n  \"schema\": 2,\n  \"version\": \"{}\",\n{}  \"simulated_ps\": {},\n"
                   "  \"backend\": \"{}\",\n  \"configuration\": {},\n",
                   version(),
                   unfinished_json(result),
                   result.simulated.ps,
                   result.backend,
                   indented(result.configuration));
    write_list(text, "ranks", result.ranks, kRankColumns);
    if (result.write_collectives) {
        write_list(text, "collectives", result.collectives, kCollectiveColumns);
    }
    write_list(text, "dimensions", result.dimensions, kDimensionColumns);
    if (result.write_links) {
        if (result.has_packets) {
            write_list(text, "links", result.links, kPacketLinkColumns);
        } else {
            write_list(text, "links", result.links, kLinkColumns);
        }
    }
    text += flows_json(result);
    text += training_json(result);
    text += packets_json(result);
    text += link_load_json(result);
    text += "  \"warnings\": [";
    for (std::size_t i = 0; i < result.warnings.size(); ++i) {
        text += (i == 0 ? "\n    " : ",\n    ") + json_text(result.warnings[i]);
    }
    text += result.warnings.empty() ? "],\n" : "\n  ],\n";
    const RunCounts& n = result.counts;
    fmt::format_to(Out(text),
                   R"(  "counts": {{"ops": {}, "skipped_ops": {}, "ops_without_duration": {}, )"
                   R"("dropped_dependencies": {}, "messages": {}, "message_bytes": {}, )"
                   R"("background_messages": {}, "events": {}}})"
                   "\n}}\n",
                   n.ops,
                   n.skipped_ops,
                   n.ops_without_duration,
                   n.dropped_dependencies,
                   n.messages,
                   n.message_bytes,
                   n.background_messages,
                   n.events);
    return text;
}

std::string ranks_csv(const RunResult& result) {
    return csv(result.ranks, kRankColumns);
}

std::string collectives_csv(const RunResult& result) {
    return csv(result.collectives, kCollectiveColumns);
}

std::string links_csv(const RunResult& result) {
    return result.has_packets ? csv(result.links, kPacketLinkColumns)
                              : csv(result.links, kLinkColumns);
}

std::string ops_csv(const RunResult& result) {
    return csv(result.ops, kOpColumns);
}

std::string queues_csv(const RunResult& result) {
    return result.has_packets ? csv(result.link_samples, kPacketQueueColumns)
                              : csv(result.link_samples, kQueueColumns);
}

void write_result_files(const RunResult& result, OutputFolder& folder) {
    // A file that this run does not write must not be that of an earlier one.
    const auto write = [&](const char* name, bool wanted, auto content) {
        if (wanted) {
            folder.write(name, content(result));
        } else {
            folder.remove(name);
        }
    };
    write("ranks.csv", true, ranks_csv);
    write("collectives.csv",
          result.write_collectives && !result.collectives.empty(),
          collectives_csv);
    write("links.csv", result.write_links && !result.links.empty(), links_csv);
    write("flows.csv", result.flow_statistics.has_value(), flows_csv);
    write("transfers.csv", !result.transfers.empty(), transfers_csv);
    write("windows.csv", !result.windows.empty(), windows_csv);
    write("windows.svg", !result.windows.empty(), windows_svg);
    write("ops.csv", !result.ops.empty(), ops_csv);
    write("queues.csv", !result.link_samples.empty(), queues_csv);
    // Last, so that whoever sees it sees the others too.
    write("result.json", true, result_json);
}

}  // namespace astra
