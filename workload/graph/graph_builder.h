// Builds and checks an ExecutionGraph from nodes in any order. Readers and generators feed it, so
// that whatever makes a graph meets the same checks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "astra/core/types.h"
#include "astra/core/warnings.h"
#include "workload/graph/execution_graph.h"
#include "workload/graph/stream_note.h"
#include "workload/graph/stream_order.h"

namespace astra {

// A node as a trace gives it; reused from node to node.
struct TraceNode {
    std::uint64_t id = 0;
    std::string name;
    OpKind kind = OpKind::Invalid;
    std::vector<std::uint64_t> parents;  // data and control dependencies, repeats allowed
    // More of them, which are to be written as control dependencies; readers give none.
    std::vector<std::uint64_t> control_parents;
    bool on_cpu = false;
    std::uint64_t duration_ps = 0;
    std::optional<std::uint64_t> operations;
    std::optional<std::uint64_t> tensor_bytes;
    std::optional<CollectiveKind> collective;
    std::optional<std::uint64_t> comm_bytes;
    std::uint64_t priority = 0;
    std::optional<std::uint32_t> source;       // comm_src
    std::optional<std::uint32_t> destination;  // comm_dst
    std::optional<std::uint32_t> tag;
    std::string group;  // pg_name; "" = none
    std::optional<std::vector<bool>> involved_dimensions;
    // What this rank sends to each member in an all_to_all and, where the trace says so, receives
    // from each: in bytes, by position in the group. Both empty: equal parts of comm_bytes.
    std::vector<std::uint64_t> pair_sends;
    std::vector<std::uint64_t> pair_receives;
    StreamNote stream_note;

    void clear();  // keeps the memory
};

// A graph before its groups and peers are resolved against the job.
struct UnresolvedRank {
    std::shared_ptr<const ExecutionGraph> graph;
    std::vector<std::uint32_t> peers;
    std::vector<std::string> group_names;  // group role -> name in the trace ("" = unnamed)
    std::string file;
};

// True for the collectives that have a root: broadcast, reduce, gather and scatter.
bool is_rooted(CollectiveKind kind);

class GraphBuilder {
  public:
    // `file` and `rank` are for messages; `ranks` is the size of the job (peers must be below it).
    GraphBuilder(std::string file, std::uint32_t rank, std::uint32_t ranks);
    ~GraphBuilder();
    GraphBuilder(const GraphBuilder&) = delete;
    GraphBuilder& operator=(const GraphBuilder&) = delete;

    // Throws TraceError "file: rank r, node id (name): …" on a missing needed attribute, a peer out
    // of range, a duration or size out of range, the id of the node before it. `node` may be reused
    // afterwards.
    void add(const TraceNode& node);

    // Before finish(): the streams that nodes name become edges (stream_order.h).
    void use_streams(const StreamUse& use);

    // Throws TraceError on duplicate ids and cycles (names the nodes of one cycle, at most ten).
    // Dependencies on nodes that are not there are dropped; one warning counts them and names the
    // first ten.
    UnresolvedRank finish(Warnings& warnings);
    std::uint64_t dropped_dependencies() const;
    const StreamReport& streams() const;  // what use_streams() has added

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace astra
