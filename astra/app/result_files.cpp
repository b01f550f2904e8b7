#include "astra/app/result_files.h"

#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "astra/app/version.h"

namespace astra {

namespace {

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// A name in a CSV field: quoted only where it must be.
std::string field(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) {
        return text;
    }
    std::string result = "\"";
    for (const char c : text) {
        result += c == '"' ? std::string("\"\"") : std::string(1, c);
    }
    return result + "\"";
}

using Out = std::back_insert_iterator<std::string>;

// A JSON list, an entry a line.
template <class Record, class Write>
void write_list(std::string& text,
                const char* name,
                const std::vector<Record>& records,
                Write write) {
    fmt::format_to(Out(text), "  \"{}\": [", name);
    const char* separator = "\n";
    for (const Record& record : records) {
        text += separator;
        text += "    ";
        write(record);
        separator = ",\n";
    }
    text += records.empty() ? "],\n" : "\n  ],\n";
}

void write_ranks(std::string& text, const RunResult& result) {
    write_list(text, "ranks", result.ranks, [&](const RankRecord& r) {
        fmt::format_to(
            Out(text),
            R"({{"rank": {}, "finish_ps": {}, "compute_ps": {}, "communication_ps": {}, )"
            R"("memory_ps": {}, "exposed_communication_ps": {}, "exposed_memory_ps": {}, )"
            R"("idle_ps": {}}})",
            index(r.rank),
            r.finish.ps,
            r.compute.ps,
            r.communication.ps,
            r.memory.ps,
            r.exposed_communication.ps,
            r.exposed_memory.ps,
            r.idle.ps);
    });
}

void write_collectives(std::string& text, const RunResult& result) {
    write_list(text, "collectives", result.collectives, [&](const CollectiveRecord& c) {
        fmt::format_to(
            Out(text),
            R"({{"group": {}, "sequence": {}, "kind": "{}", "algorithm": {}, "bytes": {}, )"
            R"("ranks": {}, "start_ps": {}, "end_ps": {}}})",
            quoted(c.group),
            c.sequence,
            name_of(c.kind),
            quoted(c.algorithm),
            c.bytes.count,
            c.ranks,
            c.start.ps,
            c.end.ps);
    });
}

void write_links(std::string& text, const RunResult& result) {
    write_list(text, "links", result.links, [&](const LinkRecord& l) {
        fmt::format_to(Out(text),
                       R"({{"from": {}, "to": {}, "bytes": {}, "busy_ps": {}}})",
                       quoted(l.from),
                       quoted(l.to),
                       l.bytes.count,
                       l.busy.ps);
    });
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
                   "{{\n  \"schema\": 1,\n  \"version\": \"{}\",\n  \"simulated_ps\": {},\n"
                   "  \"backend\": \"{}\",\n  \"configuration\": {},\n",
                   version(),
                   result.simulated.ps,
                   result.backend,
                   indented(result.configuration));
    write_ranks(text, result);
    if (result.write_collectives) {
        write_collectives(text, result);
    }
    if (result.write_links) {
        write_links(text, result);
    }
    write_list(text, "warnings", result.warnings, [&](const std::string& warning) {
        text += quoted(warning);
    });
    const RunCounts& n = result.counts;
    fmt::format_to(
        Out(text),
        R"(  "counts": {{"ops": {}, "skipped_ops": {}, "ops_without_duration": {}, )"
        R"("dropped_dependencies": {}, "messages": {}, "message_bytes": {}, "events": {}}})"
        "\n}}\n",
        n.ops,
        n.skipped_ops,
        n.ops_without_duration,
        n.dropped_dependencies,
        n.messages,
        n.message_bytes,
        n.events);
    return text;
}

std::string ranks_csv(const RunResult& result) {
    std::string text =
        "rank,finish_ps,compute_ps,communication_ps,memory_ps,exposed_communication_ps,"
        "exposed_memory_ps,idle_ps\n";
    for (const RankRecord& r : result.ranks) {
        fmt::format_to(Out(text),
                       "{},{},{},{},{},{},{},{}\n",
                       index(r.rank),
                       r.finish.ps,
                       r.compute.ps,
                       r.communication.ps,
                       r.memory.ps,
                       r.exposed_communication.ps,
                       r.exposed_memory.ps,
                       r.idle.ps);
    }
    return text;
}

std::string collectives_csv(const RunResult& result) {
    std::string text = "group,sequence,kind,algorithm,bytes,ranks,start_ps,end_ps\n";
    for (const CollectiveRecord& c : result.collectives) {
        fmt::format_to(Out(text),
                       "{},{},{},{},{},{},{},{}\n",
                       field(c.group),
                       c.sequence,
                       name_of(c.kind),
                       field(c.algorithm),
                       c.bytes.count,
                       c.ranks,
                       c.start.ps,
                       c.end.ps);
    }
    return text;
}

std::string links_csv(const RunResult& result) {
    std::string text = "from,to,bytes,busy_ps\n";
    for (const LinkRecord& l : result.links) {
        fmt::format_to(
            Out(text), "{},{},{},{}\n", field(l.from), field(l.to), l.bytes.count, l.busy.ps);
    }
    return text;
}

std::string ops_csv(const RunResult& result) {
    std::string text = "rank,node,name,kind,start_ps,end_ps\n";
    for (const OpRecord& op : result.ops) {
        fmt::format_to(Out(text),
                       "{},{},{},{},{},{}\n",
                       index(op.rank),
                       op.node_id,
                       field(std::string(op.name)),
                       op.kind,
                       op.start.ps,
                       op.end.ps);
    }
    return text;
}

void write_result_files(const RunResult& result, OutputFolder& folder) {
    folder.write("ranks.csv", ranks_csv(result));
    if (result.write_collectives && !result.collectives.empty()) {
        folder.write("collectives.csv", collectives_csv(result));
    }
    if (result.write_links && !result.links.empty()) {
        folder.write("links.csv", links_csv(result));
    }
    if (!result.ops.empty()) {
        folder.write("ops.csv", ops_csv(result));
    }
    // Last, so that whoever sees it sees the others too.
    folder.write("result.json", result_json(result));
}

}  // namespace astra
