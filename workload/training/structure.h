// The part that each op of a trace plays in training: which collectives reduce gradients, what
// updates parameters, and who reads them in the next iteration.
//
// A collective that may reduce gradients (all_reduce, reduce_scatter) is a gradient transfer if its
// name says so, and no op of the same iteration that is forward or backward by name depends on it;
// or if its name says nothing, or no parameter, and no computation that depends on it leads to
// another such collective in the iteration: what follows from gradients is their update.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/graph/execution_graph.h"
#include "workload/training/dependencies.h"
#include "workload/training/iterations.h"
#include "workload/training/rules.h"

namespace astra {

inline constexpr std::uint32_t kNoReader = 0xffffffffU;

struct GradientTransfer {
    std::uint32_t op = 0;
    std::uint32_t iteration = 0;
    std::uint32_t update = 0;            // index into `updates`
    std::string parameter;               // "" = not named
    std::vector<std::uint32_t> readers;  // first ops that read it in the next iteration; of a
                                         // trace of one iteration: in its copy; empty = unknown
};

// Transfers and all ops of their iteration that follow from them, as far as they hang together.
struct ParameterUpdate {
    std::uint32_t iteration = 0;
    std::vector<std::uint32_t> last;     // its ops after which nothing is left to do
    std::vector<std::uint32_t> readers;  // of all its transfers
    bool reader_unknown = false;         // of one of them: the next iteration reads it at once
    bool recorded = false;  // the trace itself has edges to the readers, of the next iteration
};

struct TrainingStructure {
    TraceIterations iterations;
    std::vector<NameMeaning> meanings;        // by name of the graph
    std::vector<std::uint8_t> follows;        // by op: a transfer, or after one in its iteration
    std::vector<GradientTransfer> transfers;  // ascending by op
    std::vector<ParameterUpdate> updates;
    std::uint32_t other_collectives = 0;  // all_reduce or reduce_scatter, but of no gradients
};

// O(ops + edges + names), beside what regular expressions cost for each distinct name. `barrier`
// and `file`: find_iterations().
TrainingStructure find_structure(const ExecutionGraph& graph,
                                 const Dependencies& dependencies,
                                 const TrainingRules& rules,
                                 const std::string& barrier,
                                 const std::string& file);

}  // namespace astra
