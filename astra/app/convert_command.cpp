// `astra convert`: from one format of traces and collectives to another.
#include <array>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "astra/app/command.h"
#include "astra/app/convert_schedule.h"
#include "astra/app/options.h"
#include "astra/app/output_folder.h"
#include "astra/core/error.h"
#include "astra/core/nearest.h"
#include "workload/chakra_collective.h"
#include "workload/msccl_xml.h"
#include "workload/program_files.h"

namespace astra {

namespace {

constexpr const char* kUsage =
    "usage: astra convert INPUT --to=FORMAT --output=OUTPUT\n"
    "       astra convert STUDY.yml|PREFIX --schedule=POLICY --output=PREFIX\n\n"
    "Converts collectives:\n"
    "  --to=chakra   INPUT is an MSCCL file (XML), OUTPUT the prefix of Chakra files, one a rank\n"
    "  --to=msccl    INPUT is such a prefix, OUTPUT an MSCCL file; '-' writes to standard "
    "output\n\n"
    "With --schedule: runs a training study, or traces, under a policy of transfers and writes "
    "traces that hold its schedule (docs/caramel.md).";

void declare(OptionSet& options) {
    options.add_value("to", "FORMAT", "chakra or msccl (required without --schedule)");
    options.add_value("output", "OUTPUT", "what to write (required)");
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
    const std::uint32_t files = write_chakra_collective(read_block_algorithm(input), output);
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

int run(const Arguments& arguments) {
    OptionSet options(kUsage);
    declare(options);
    options.parse(arguments);
    if (options.wants_help()) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    if (options.positional().size() != 1) {
        throw ConfigError("convert: needs one input; see astra convert --help");
    }
    const std::string input = options.positional().front();
    if (options.value("schedule")) {
        return convert_schedule(input, needed(options, "output"), options);
    }
    const std::string format = needed(options, "to");
    const std::string output = needed(options, "output");
    if (format == "chakra") {
        to_chakra(input, output);
    } else if (format == "msccl") {
        to_msccl(input, output);
    } else {
        static const std::array<std::string, 2> formats = {"chakra", "msccl"};
        throw ConfigError(
            fmt::format("--to: no format '{}'{}", format, suggestion(format, formats)));
    }
    return 0;
}

}  // namespace

extern const Command kConvertCommand;
const Command kConvertCommand = {"convert", "converts traces and collectives", run};

}  // namespace astra
