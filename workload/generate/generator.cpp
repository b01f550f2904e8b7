#include "workload/generate/generator.h"

#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "astra/config/units.h"
#include "astra/core/error.h"
#include "astra/core/text/nearest.h"
#include "workload/chakra/chakra_writer.h"
#include "workload/graph/groups.h"
#include "workload/graph/workload_assembler.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const Generator k##name##Generator;
#include "workload/generate/builtins.def"
#undef ASTRA_BUILTIN

namespace {

std::vector<std::string> names_of(std::span<const GeneratorParameter> parameters) {
    std::vector<std::string> names;
    names.reserve(parameters.size());
    for (const GeneratorParameter& parameter : parameters) {
        names.emplace_back(parameter.name);
    }
    return names;
}

const Generator& find_generator(const std::string& kind) {
    const Generator* generator = generators().find(kind);
    if (generator == nullptr) {
        throw ConfigError("generate: unknown kind '" + kind + "'" + generators().nearest(kind));
    }
    return *generator;
}

std::vector<GroupDefinition> groups_of(const Generator& generator,
                                       const GeneratorParameters& parameters) {
    return generator.groups == nullptr ? std::vector<GroupDefinition>()
                                       : generator.groups(parameters);
}

GeneratorParameters parameters_of(const Generator& generator,
                                  const ParameterMap& given,
                                  std::uint32_t ranks) {
    std::string kind(generator.name);
    if (ranks == 0) {
        throw ConfigError("generate: " + kind + ": at least one rank is needed");
    }
    return {std::move(kind), generator.parameters, given, ranks};
}

class GraphSink final : public NodeSink {
  public:
    explicit GraphSink(GraphBuilder& builder) : builder_(builder) {}
    void add(const TraceNode& node) override { builder_.add(node); }

  private:
    GraphBuilder& builder_;
};

// What is written must be readable: every node goes through the checks of a trace. Its graph does
// not matter, so it is thrown away before it grows.
class FileSink final : public NodeSink {
  public:
    FileSink(const std::string& file, std::uint32_t rank, std::uint32_t ranks)
        : file_(file), rank_(rank), ranks_(ranks), writer_(file) {}
    void add(const TraceNode& node) override {
        if (checked_++ % kMostChecked == 0) {
            checker_ = std::make_unique<GraphBuilder>(file_, rank_, ranks_);
        }
        checker_->add(node);
        writer_.add(node);
    }
    void close() { writer_.close(); }

  private:
    static constexpr std::uint64_t kMostChecked = 4096;

    std::string file_;
    std::uint32_t rank_;
    std::uint32_t ranks_;
    ChakraWriter writer_;
    std::unique_ptr<GraphBuilder> checker_;
    std::uint64_t checked_ = 0;
};

void check_folder(const std::string& prefix) {
    std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
    if (folder.empty()) {
        folder = ".";
    }
    const auto refuse = [&](const char* what) {
        throw ConfigError("generate: output: the folder " + folder.string() + " " + what);
    };
    std::error_code error;
    if (!std::filesystem::exists(folder, error)) {
        refuse("does not exist");
    }
    if (!std::filesystem::is_directory(folder, error)) {
        refuse("is not a folder");
    }
    if (::access(folder.c_str(), W_OK | X_OK) != 0) {
        refuse("cannot be written to");
    }
}

}  // namespace

GeneratorParameters::GeneratorParameters(std::string kind,
                                         std::span<const GeneratorParameter> known,
                                         const ParameterMap& given,
                                         std::uint32_t ranks)
    : kind_(std::move(kind)), ranks_(ranks) {
    for (const GeneratorParameter& parameter : known) {
        fallbacks_.emplace(parameter.name, parameter.fallback);
    }
    values_ = fallbacks_;
    for (const auto& [name, value] : given) {
        const auto found = values_.find(name);
        if (found == values_.end()) {
            fail(name, "unknown parameter" + suggestion(name, names_of(known)));
        }
        found->second = value;
    }
}

void GeneratorParameters::fail(const std::string& name, const std::string& what) const {
    throw ConfigError("generate: " + kind_ + ": " + name + ": " + what);
}

void GeneratorParameters::limit_nodes(const std::string& names, std::uint64_t nodes) const {
    if (nodes > kMostGeneratedNodes) {
        fail(names,
             std::to_string(nodes) + " nodes a rank are too many; at most " +
                 std::to_string(kMostGeneratedNodes));
    }
}

void GeneratorParameters::need_ranks(std::uint32_t least) const {
    if (ranks_ < least) {
        throw ConfigError("generate: " + kind_ + ": at least " + std::to_string(least) +
                          " ranks are needed, not " + std::to_string(ranks_));
    }
}

const std::string& GeneratorParameters::text(const std::string& name) const {
    return values_.at(name);
}

bool GeneratorParameters::is_given(const std::string& name) const {
    return values_.at(name) != fallbacks_.at(name);
}

std::uint64_t GeneratorParameters::integer(const std::string& name,
                                           std::uint64_t least,
                                           std::uint64_t most) const {
    const std::string& value = text(name);
    std::uint64_t result = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc{} || end != value.data() + value.size() || result < least ||
        result > most) {
        fail(name,
             "'" + value + "' is not a whole number within " + std::to_string(least) + " and " +
                 std::to_string(most));
    }
    return result;
}

Bytes GeneratorParameters::bytes(const std::string& name) const {
    const std::optional<Bytes> result = parse_bytes(text(name));
    if (!result) {
        fail(name, "'" + text(name) + "' is not a size like 4MiB");
    }
    return *result;
}

Duration GeneratorParameters::duration(const std::string& name) const {
    const std::optional<Duration> result = parse_duration(text(name));
    if (!result) {
        fail(name, "'" + text(name) + "' is not a time like 10us");
    }
    return *result;
}

double GeneratorParameters::rate(const std::string& name) const {
    const std::optional<double> result = parse_rate(text(name));
    if (!result || !(*result > 0)) {
        fail(name, "'" + text(name) + "' is not a rate above 0 like 8TFLOPS");
    }
    return *result;
}

bool GeneratorParameters::flag(const std::string& name) const {
    return choice(name, {"false", "true"}) == 1;
}

std::uint32_t GeneratorParameters::choice(const std::string& name,
                                          const std::vector<std::string>& choices) const {
    const std::string& value = text(name);
    for (std::uint32_t i = 0; i < choices.size(); ++i) {
        if (choices[i] == value) {
            return i;
        }
    }
    fail(name, "'" + value + "' is not known" + suggestion(value, choices));
}

const Registry<Generator>& generators() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##Generator,
#include "workload/generate/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<Generator> table("kind", entries);
    return table;
}

std::string describe_generators() {
    std::string result;
    for (const Generator* generator : generators()) {
        result.append(generator->name).append(": ").append(generator->summary).append("\n");
        for (const GeneratorParameter& parameter : generator->parameters) {
            const bool names_file = parameter.fallback.empty() && parameter.is_file;
            result.append("  ").append(parameter.name).append("=");
            result.append(names_file ? "FILE" : parameter.fallback);
            result.append(": ").append(parameter.doc).append("\n");
        }
    }
    return result;
}

Workload generate_workload(const std::string& kind,
                           const ParameterMap& parameters,
                           std::uint32_t ranks,
                           Warnings& warnings) {
    const Generator& generator = find_generator(kind);
    const GeneratorParameters checked = parameters_of(generator, parameters, ranks);
    const std::string source = "generated " + kind;
    GroupTable groups(ranks, groups_of(generator, checked), source);
    WorkloadAssembler assembler;
    UnresolvedRank trace;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if (rank == 0 || !generator.same_for_all_ranks) {
            GraphBuilder builder(source, rank, ranks);
            GraphSink sink(builder);
            generator.emit(checked, rank, sink);
            trace = builder.finish(warnings);
        }
        assembler.add(trace, 0);
    }
    return assembler.finish(groups);
}

void write_traces(const std::string& kind,
                  const ParameterMap& parameters,
                  std::uint32_t ranks,
                  const std::string& prefix,
                  Warnings& /*warnings*/) {
    const Generator& generator = find_generator(kind);
    const GeneratorParameters checked = parameters_of(generator, parameters, ranks);
    check_folder(prefix);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::string file = prefix + "." + std::to_string(rank) + ".et";
        FileSink sink(file, rank, ranks);
        generator.emit(checked, rank, sink);
        sink.close();
    }
    const std::vector<GroupDefinition> groups = groups_of(generator, checked);
    if (!groups.empty()) {
        write_group_file(groups, prefix + ".groups.json");
    }
}

}  // namespace astra
