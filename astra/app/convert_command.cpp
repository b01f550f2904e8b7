// `astra convert`: from one format of traces and collectives to another.
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "astra/app/command.h"
#include "astra/app/convert_schedule.h"
#include "astra/app/options.h"
#include "astra/core/error.h"
#include "astra/core/text/nearest.h"
#include "astra/results/output_folder.h"
#include "workload/chakra/chakra_json.h"
#include "workload/custom_collective/chakra_collective.h"
#include "workload/custom_collective/msccl_xml.h"
#include "workload/custom_collective/program_files.h"

namespace astra {

namespace {

constexpr const char* kUsage =
    "usage: astra convert INPUT --to=FORMAT --output=OUTPUT\n"
    "       astra convert STUDY.yml|PREFIX --schedule=POLICY --output=PREFIX\n\n"
    "Converts collectives and traces:\n"
    "  --to=chakra   INPUT is an MSCCL file (XML), OUTPUT the prefix of Chakra files, one a rank;\n"
    "                or INPUT is a trace in JSON (.json), OUTPUT the same in protobuf\n"
    "  --to=msccl    INPUT is the prefix of a collective's Chakra files, OUTPUT an MSCCL file;\n"
    "                '-' writes to standard output\n"
    "  --to=json     INPUT is a Chakra trace, OUTPUT the same in JSON, a document a line\n"
    "Traces are files, or prefixes that stand for INPUT.0.et, INPUT.1.et and so on.\n\n"
    "With --schedule: runs a training study, or traces, under a policy of transfers and writes "
    "traces that hold its schedule (docs/caramel.md).";

const std::vector<std::string>& formats() {
    static const std::vector<std::string> names = {"chakra", "json", "msccl"};
    return names;
}

void declare(OptionSet& options) {
    options.add_value("to", "FORMAT", "what to make (required without --schedule)", formats());
    options.add_value("output,o", "OUTPUT", "what to write (required)");
    declare_schedule_options(options);
}

std::string needed(const OptionSet& options, const char* name) {
    const auto value = options.value(name);
    if (!value || value->empty()) {
        throw ConfigError(fmt::format("convert: needs --{}; see astra convert --help", name));
    }
    return *value;
}

void to_chakra(const std::string& input, const std::string& output) {
    const std::filesystem::path prefix(output);
    if (prefix.has_parent_path()) {
        std::filesystem::create_directories(prefix.parent_path());
    }
    const std::uint32_t files = write_chakra_collective(read_thread_block_algorithm(input), output);
    std::fputs(fmt::format("wrote {}.0.et to {}.{}.et\n", output, output, files - 1).c_str(),
               stdout);
}

void to_msccl(const std::string& input, const std::string& output) {
    const ChakraCollective collective = read_chakra_collective(input);
    if (!collective.blocks) {
        throw TraceError(input +
                         ": the files do not say which data they move, which MSCCL must know");
    }
    const std::string text = msccl_text(*collective.blocks);
    if (output == "-") {
        std::fputs(text.c_str(), stdout);
        return;
    }
    const std::filesystem::path file(output);
    const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
    OutputFolder(folder).write(file.filename().string(), text);
}

// One file, or one a rank; false if there is neither.
template <typename Convert>
bool convert_traces(const std::string& input,
                    const std::string& output,
                    const char* from,
                    const char* to,
                    Convert convert) {
    if (std::filesystem::is_regular_file(input)) {
        convert(input, output);
        return true;
    }
    std::uint32_t rank = 0;
    for (; std::filesystem::exists(fmt::format("{}.{}.{}", input, rank, from)); ++rank) {
        convert(fmt::format("{}.{}.{}", input, rank, from),
                fmt::format("{}.{}.{}", output, rank, to));
    }
    return rank > 0;
}

// JSON or an MSCCL file.
bool is_json(const std::string& input) {
    return input.ends_with(".json") ||
           (!std::filesystem::is_regular_file(input) && std::filesystem::exists(input + ".0.json"));
}

void refuse_missing(const std::string& input, const char* ending) {
    throw TraceError(
        fmt::format("{}: there is neither such a file nor {}.0.{}", input, input, ending));
}

int convert(const OptionSet& options) {
    if (options.positional().size() != 1) {
        throw ConfigError("convert: needs one input; see astra convert --help");
    }
    const std::string input = options.positional().front();
    if (options.value("schedule")) {
        return convert_schedule(input, needed(options, "output"), options);
    }
    const std::string format = needed(options, "to");
    const std::string output = needed(options, "output");
    if (format == "json") {
        if (!convert_traces(input, output, "et", "json", chakra_to_json)) {
            refuse_missing(input, "et");
        }
    } else if (format == "chakra" && is_json(input)) {
        if (!convert_traces(input, output, "json", "et", json_to_chakra)) {
            refuse_missing(input, "json");
        }
    } else if (format == "chakra") {
        to_chakra(input, output);
    } else if (format == "msccl") {
        to_msccl(input, output);
    } else {
        throw ConfigError(
            fmt::format("--to: no format '{}'{}", format, suggestion(format, formats())));
    }
    return 0;
}

}  // namespace

extern const Command kConvertCommand;
const Command kConvertCommand = {.name = "convert",
                                 .summary = "converts traces and collectives",
                                 .usage = kUsage,
                                 .declare = declare,
                                 .act = convert};

}  // namespace astra
