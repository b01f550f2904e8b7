// Which iteration of training each op of a trace belongs to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/graph/execution_graph.h"
#include "workload/training/dependencies.h"
#include "workload/training/rules.h"

namespace astra {

struct TraceIterations {
    std::uint32_t count = 1;
    std::vector<std::uint32_t> of_op;  // no op belongs to an earlier iteration than its parents
    std::string how;                   // for people: how they were told apart
};

// In this order: by the ops called `barrier` ("" = none), each of which ends an iteration; by names
// of the role Iteration, each new one of which begins one; by repetition: the trace is the same
// sequence of kinds, names and sizes several times over, gradients in it; or it is one iteration.
// `roles` by name of the graph. Throws TraceError, with `file`, if no op is called `barrier`.
TraceIterations find_iterations(const ExecutionGraph& graph,
                                const Dependencies& dependencies,
                                const std::vector<TrainingRole>& roles,
                                const std::string& barrier,
                                const std::string& file);

// Whether the op is of a kind that reduces gradients.
bool may_be_transfer(const ExecutionGraph& graph, std::uint32_t op);

}  // namespace astra
