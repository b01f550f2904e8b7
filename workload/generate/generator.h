// Synthetic workloads, made in memory or written as traces. A kind is one source of this folder and
// one line in its builtins.def.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "astra/core/registry.h"
#include "astra/core/types.h"
#include "astra/core/warnings.h"
#include "workload/graph/execution_graph.h"
#include "workload/graph/graph_builder.h"

namespace astra {

using ParameterMap = std::map<std::string, std::string>;

struct GeneratorParameter {
    std::string_view name;
    std::string_view doc;
    std::string_view fallback;  // the value if none is given, in the same form
    bool is_file = false;
};

// A rank of so many takes about 10 GB.
inline constexpr std::uint64_t kMostGeneratedNodes = std::uint64_t{1} << 27U;

// The parameters of one generator, checked. All readers throw ConfigError "generate: kind: name:
// …".
class GeneratorParameters {
  public:
    // Throws for a name that `known` does not have.
    GeneratorParameters(std::string kind,
                        std::span<const GeneratorParameter> known,
                        const ParameterMap& given,
                        std::uint32_t ranks);

    std::uint32_t ranks() const { return ranks_; }
    std::uint64_t integer(const std::string& name, std::uint64_t least, std::uint64_t most) const;
    Bytes bytes(const std::string& name) const;
    Duration duration(const std::string& name) const;
    double rate(const std::string& name) const;  // operations a second, above 0
    bool flag(const std::string& name) const;
    std::uint32_t choice(const std::string& name, const std::vector<std::string>& choices) const;
    const std::string& text(const std::string& name) const;
    // Whether the value is another than the fallback.
    bool is_given(const std::string& name) const;
    [[noreturn]] void fail(const std::string& name, const std::string& what) const;
    // Throws if a rank would have more than kMostGeneratedNodes; `names` are the parameters that
    // say so.
    void limit_nodes(const std::string& names, std::uint64_t nodes) const;
    void need_ranks(std::uint32_t least) const;

  private:
    std::string kind_;
    std::uint32_t ranks_;
    ParameterMap values_;
    ParameterMap fallbacks_;
};

class NodeSink {
  public:
    virtual ~NodeSink() = default;
    virtual void add(const TraceNode& node) = 0;

  protected:
    NodeSink() = default;
    NodeSink(const NodeSink&) = default;
    NodeSink& operator=(const NodeSink&) = default;
};

struct Generator {
    std::string_view name;
    std::string_view summary;
    std::span<const GeneratorParameter> parameters;
    bool same_for_all_ranks = false;  // `emit` does not look at the rank
    void (*emit)(const GeneratorParameters& parameters,
                 std::uint32_t rank,
                 NodeSink& sink) = nullptr;
    // nullptr: no op names a group.
    std::vector<GroupDefinition> (*groups)(const GeneratorParameters& parameters) = nullptr;
};

const Registry<Generator>& generators();

// A line a generator and a line a parameter, for --help.
std::string describe_generators();

// Both throw ConfigError for an unknown kind or a wrong parameter.
Workload generate_workload(const std::string& kind,
                           const ParameterMap& parameters,
                           std::uint32_t ranks,
                           Warnings& warnings);

// Writes PREFIX.<rank>.et and, if there are groups, PREFIX.groups.json. No more than one node is in
// memory. Throws ConfigError before it makes anything if the folder is not there or cannot be
// written to.
void write_traces(const std::string& kind,
                  const ParameterMap& parameters,
                  std::uint32_t ranks,
                  const std::string& prefix,
                  Warnings& warnings);

}  // namespace astra
