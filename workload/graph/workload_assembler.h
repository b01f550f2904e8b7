// Puts the graphs of the ranks together into a Workload: shares equal graphs and resolves groups.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "workload/graph/execution_graph.h"
#include "workload/graph/graph_builder.h"
#include "workload/graph/groups.h"

namespace astra {

class WorkloadAssembler {
  public:
    // Adds the next rank, 0 first. `trace.graph` is replaced by an equal one added before.
    void add(UnresolvedRank& trace, std::uint64_t dropped_dependencies);

    // Throws TraceError for a group that is not defined, that lacks a rank that uses it, or that
    // lacks the root of an op.
    Workload finish(GroupTable& groups);

  private:
    struct RootUse {
        std::uint32_t group_role;
        std::uint32_t root_role;
        bool operator==(const RootUse&) const = default;
    };
    using GraphPointer = std::shared_ptr<const ExecutionGraph>;

    const std::vector<RootUse>& root_uses(const ExecutionGraph& graph);
    void resolve(std::uint32_t rank, GroupTable& groups);

    std::unordered_multimap<std::uint64_t, GraphPointer> graphs_;  // by content
    std::unordered_set<const ExecutionGraph*> shared_;             // those in graphs_
    std::unordered_map<const ExecutionGraph*, std::vector<RootUse>> root_uses_;
    std::vector<UnresolvedRank> ranks_;
    Workload workload_;
};

}  // namespace astra
