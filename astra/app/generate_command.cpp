// `astra generate`: writes Chakra traces.
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "astra/app/command.h"
#include "astra/app/options.h"
#include "astra/core/error.h"
#include "workload/generator.h"
#include "workload/trace_files.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostRanks = 1U << 20;

int run(const Arguments& arguments) {
    OptionSet options(
        "usage: astra generate KIND [NAME=VALUE …] --ranks=N --output=PREFIX\n\n"
        "Writes the Chakra traces PREFIX.<rank>.et, and PREFIX.groups.json where the kind has "
        "groups.\n\n" +
        describe_generators());
    options.add_value("ranks", "N", "number of ranks (needed)");
    options.add_value("output", "PREFIX", "of the files (needed)");
    options.parse(arguments);
    if (options.wants_help()) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    const auto& words = options.positional();
    const auto ranks = options.integer("ranks", 1, kMostRanks);
    const auto prefix = options.value("output");
    if (words.empty() || !ranks || !prefix) {
        throw ConfigError("generate needs a kind, --ranks and --output; see astra generate --help");
    }
    ParameterMap parameters;
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::size_t equal = words[i].find('=');
        if (equal == std::string::npos || equal == 0) {
            throw ConfigError(
                fmt::format("generate: '{}' is not of the form name=value", words[i]));
        }
        const std::string name = words[i].substr(0, equal);
        if (!parameters.emplace(name, words[i].substr(equal + 1)).second) {
            throw ConfigError(fmt::format("generate: '{}' is given twice", name));
        }
    }
    Warnings warnings;
    const std::filesystem::path folder = std::filesystem::path(*prefix).parent_path();
    std::error_code error;  // write_traces says what is wrong with the folder
    std::filesystem::create_directories(folder, error);
    write_traces(words.front(), parameters, static_cast<std::uint32_t>(*ranks), *prefix, warnings);
    if (count_trace_ranks(*prefix) > *ranks) {
        warnings.add(fmt::format(
            "older traces under the same prefix remain: {}.{} and above", *prefix, *ranks));
    }
    for (const std::string& warning : warnings.texts()) {
        fmt::print(stderr, "astra: warning: {}\n", warning);
    }
    fmt::print("wrote {} traces, {}.0.et to {}.{}.et\n", *ranks, *prefix, *prefix, *ranks - 1);
    return 0;
}

}  // namespace

extern const Command kGenerateCommand;
const Command kGenerateCommand = {"generate", "writes Chakra traces of synthetic workloads", run};

}  // namespace astra
