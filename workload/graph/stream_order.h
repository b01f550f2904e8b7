// The order in which a GPU runs what was launched on its streams, as edges of a graph.
//
// A stream of the GPU, and a thread of the host, runs its ops one after the other, in the order of
// their launch: by correlation where all of its ops have one, else by recorded start, else by their
// launchers. Calls that synchronise (cudaEventRecord, cudaStreamWaitEvent, cudaStreamSynchronize …)
// make further edges. Where none of them tells what a collective waits for, it is what PyTorch
// makes every collective wait for: the computation that the same thread launched last before it.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/graph/execution_graph.h"
#include "workload/graph/stream_note.h"

namespace astra {

// What was added; sums over ranks.
struct StreamReport {
    std::uint64_t ranks = 0;           // that name streams of a GPU
    std::uint64_t gpu_ops = 0;         // in streams
    std::uint64_t launched_only = 0;   // of these, that wait for ops of the host alone
    std::uint64_t in_stream = 0;       // edges between consecutive ops of a stream or thread
    std::uint64_t synchronised = 0;    // edges of calls that synchronise
    std::uint64_t before_comm = 0;     // edges from a computation to communication
    std::uint64_t contradictions = 0;  // ops before which their dependencies put later ones

    std::uint64_t added() const { return in_stream + synchronised + before_comm; }
    void add(const StreamReport& other);
};

// Which ops belong to the streams that their trace names.
struct StreamUse {
    bool collectives = true;  // false: something else orders them
    bool threads = true;      // ops of the host; false: they belong to no thread
    bool operator==(const StreamUse&) const = default;
};

// Adds the edges that are not there and fills ExecutionGraph::stream; nothing where the trace names
// no stream of a GPU. The graph has no cycle, before and after: an order that contradicts a
// dependency gives way to it. `notes`: one an op. A call that waits takes no time beside what it
// waits for.
// O(edges + ops · log ops).
StreamReport order_streams(ExecutionGraph& graph,
                           const std::vector<StreamNote>& notes,
                           const StreamUse& use);

}  // namespace astra
