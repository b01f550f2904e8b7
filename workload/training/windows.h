// The window of each gradient transfer: from the op that makes its gradient ready to the first op
// of the next iteration that reads the updated parameter; and what the transfer queue is told of
// it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "astra/core/warnings.h"
#include "workload/graph/execution_graph.h"
#include "workload/training/free_run.h"
#include "workload/training/structure.h"

namespace astra {

struct TransferWindow {
    std::uint32_t rank = 0;      // the first one of the job whose trace this is
    std::uint32_t group = 0;     // index into Workload::groups
    std::uint32_t transfer = 0;  // number in the forecast of the group
    std::string name;            // of its op
    std::string parameter;       // "" = not named
    CollectiveKind kind{};
    Bytes bytes;
    std::string made_by;  // the op that makes it ready; "" = nothing before it
    std::string read_by;  // the first reader; "" = not known, so the next iteration begins with it
    // From the start of the iteration, nobody waiting for a transfer.
    Duration start;
    Duration end;
    std::optional<Duration> cost;  // of the transfer alone on an idle network, if it is known
};

// A trace that ranks share, prepared for its windows.
struct TrainedGraph {
    std::uint32_t rank = 0;  // the first of the job that has it
    TrainingStructure structure;
    ExecutionGraph graph;                // two iterations at least
    std::vector<std::uint32_t> readers;  // by op of the structure's graph: where it is in the next
                                         // iteration; empty = where it is in this one
    FreeTimes times;                     // of `graph`
};

struct WindowResult {
    std::vector<TransferWindow> windows;   // by group, number and rank
    std::vector<GroupForecast> forecasts;  // by group
    // For each graph, beside structure.transfers: the number in its group's forecast, or
    // kNoTransfer where the ranks of a group, or the iterations, do not agree about transfers.
    std::vector<std::vector<std::uint32_t>> numbers;
};

// `graph_of`: by rank of the job, index into `graphs`. With a `barrier` every window ends where the
// next iteration begins. Transfers of a group are told apart by their order in the trace, the same
// on every rank; ready is the latest, needed the earliest time of all members.
WindowResult find_windows(const Workload& workload,
                          const std::vector<TrainedGraph>& graphs,
                          const std::vector<std::uint32_t>& graph_of,
                          bool barrier,
                          Warnings& warnings);

}  // namespace astra
