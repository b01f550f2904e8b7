// `astra generate`: writes Chakra traces.
#include <cstdio>
#include <filesystem>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "astra/app/command.h"
#include "astra/app/options.h"
#include "astra/core/error.h"
#include "workload/chakra/trace_files.h"
#include "workload/generate/generator.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostRanks = 1U << 20;

// NAME -> the kinds that have a parameter of that name.
std::map<std::string, std::string> parameter_names() {
    std::map<std::string, std::string> names;
    for (const Generator* generator : generators()) {
        for (const GeneratorParameter& parameter : generator->parameters) {
            std::string& kinds = names[std::string(parameter.name)];
            kinds.append(kinds.empty() ? "" : ", ").append(generator->name);
        }
    }
    return names;
}

// NAME=VALUE and --NAME=VALUE alike.
ParameterMap read_parameters(const OptionSet& options) {
    ParameterMap parameters;
    const auto add = [&](const std::string& name, const std::string& value) {
        if (!parameters.emplace(name, value).second) {
            throw ConfigError(fmt::format("generate: '{}' is given twice", name));
        }
    };
    const auto& words = options.positional();
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::size_t equal = words[i].find('=');
        if (equal == std::string::npos || equal == 0) {
            throw ConfigError(
                fmt::format("generate: '{}' is not of the form name=value", words[i]));
        }
        add(words[i].substr(0, equal), words[i].substr(equal + 1));
    }
    for (const auto& [name, kinds] : parameter_names()) {
        if (const auto value = options.value(name)) {
            add(name, *value);
        }
    }
    return parameters;
}

constexpr const char* kUsage =
    "usage: astra generate KIND [NAME=VALUE …] --ranks=N --output=PREFIX\n\n"
    "Writes the Chakra traces PREFIX.<rank>.et, and PREFIX.groups.json where the kind has groups. "
    "--NAME=VALUE means NAME=VALUE.";

void declare(OptionSet& options) {
    options.add_note(describe_generators());
    options.add_value("ranks", "N", "number of ranks (needed)");
    options.add_value("output,o", "PREFIX", "of the files (needed)");
    for (const auto& [name, kinds] : parameter_names()) {
        options.add_value(name, "VALUE", "parameter of " + kinds);
    }
}

int generate(const OptionSet& options) {
    const auto& words = options.positional();
    const auto ranks = options.integer("ranks", 1, kMostRanks);
    const auto prefix = options.value("output");
    if (words.empty() || !ranks || !prefix) {
        throw ConfigError("generate needs a kind, --ranks and --output; see astra generate --help");
    }
    const ParameterMap parameters = read_parameters(options);
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
const Command kGenerateCommand = {.name = "generate",
                                  .summary = "writes Chakra traces of synthetic workloads",
                                  .usage = kUsage,
                                  .declare = declare,
                                  .act = generate};

}  // namespace astra
