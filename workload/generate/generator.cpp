#include "workload/generate/generator.h"

#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "astra/config/units.h"
#include "astra/core/error.h"
#include "astra/core/nearest.h"
#include "workload/chakra/chakra_writer.h"
#include "workload/graph/groups.h"
#include "workload/graph/workload_assembler.h"

namespace astra {

#define ASTRA_BUILTIN(name) Generator name##_generator();
#include "workload/generate/builtins.def"
#undef ASTRA_BUILTIN

namespace {

template <typename Entry>
std::vector<std::string> names_of(const std::vector<Entry>& entries) {
    std::vector<std::string> names;
    names.reserve(entries.size());
    for (const Entry& entry : entries) {
        names.push_back(entry.name);
    }
    return names;
}

const Generator& find_generator(const std::string& kind) {
    for (const Generator& generator : generators()) {
        if (generator.name == kind) {
            return generator;
        }
    }
    throw ConfigError("generate: unknown kind '" + kind + "'" +
                      suggestion(kind, names_of(generators())));
}

GeneratorParameters parameters_of(const Generator& generator,
                                  const ParameterMap& given,
                                  std::uint32_t ranks) {
    if (ranks == 0) {
        throw ConfigError("generate: " + generator.name + ": at least one rank is needed");
    }
    return {generator.name, generator.parameters, given, ranks};
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
                                         const std::vector<GeneratorParameter>& known,
                                         const ParameterMap& given,
                                         std::uint32_t ranks)
    : kind_(std::move(kind)), ranks_(ranks) {
    for (const GeneratorParameter& parameter : known) {
        fallbacks_[parameter.name] = parameter.fallback;
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

std::vector<GroupDefinition> no_groups(const GeneratorParameters& /*parameters*/) {
    return {};
}

const std::vector<Generator>& generators() {
#define ASTRA_BUILTIN(name) name##_generator(),
    static const std::vector<Generator> table = {
#include "workload/generate/builtins.def"
    };
#undef ASTRA_BUILTIN
    return table;
}

std::string describe_generators() {
    std::string result;
    for (const Generator& generator : generators()) {
        result += generator.name + ": " + generator.summary + "\n";
        for (const GeneratorParameter& parameter : generator.parameters) {
            const std::string value =
                parameter.fallback.empty() && parameter.is_file ? "FILE" : parameter.fallback;
            result += "  " + parameter.name + "=" + value + ": " + parameter.doc + "\n";
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
    GroupTable groups(ranks, generator.groups(checked), source);
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
    const std::vector<GroupDefinition> groups = generator.groups(checked);
    if (!groups.empty()) {
        write_group_file(groups, prefix + ".groups.json");
    }
}

}  // namespace astra
