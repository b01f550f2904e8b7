// One rank's trace, ready to be replayed: a structure of arrays, immutable, shared by all ranks
// whose traces are equal up to the absolute numbers of their peers and the names of their groups.
//
// Ops are numbered 0 … size()-1 in ascending order of their ids in the trace. Peers and groups are
// *roles*: indices into the small tables that each rank keeps for itself (RankTrace).
// Memory: about 70 bytes an op, plus 4 a dependency and its name (once a distinct name).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "astra/core/types.h"
#include "system/transfer/forecast.h"

namespace astra {

enum class OpKind : std::uint8_t {
    Compute,
    MemoryLoad,
    MemoryStore,
    Send,
    Recv,
    Collective,
    Metadata,  // takes no time: process groups and the like
    Invalid,   // INVALID_NODE: skipped, counted, its children released
};

// "compute", "memory_load", …
std::string_view name_of(OpKind kind);

inline constexpr std::uint32_t kNoRole = 0xffffffffU;
inline constexpr std::uint32_t kNoOp = 0xffffffffU;
inline constexpr std::uint32_t kNoStream = 0xffffffffU;

// A stream of the GPU, or a thread of the host, by the number that the trace gives it.
struct NamedStream {
    bool is_thread = false;
    std::uint64_t number = 0;
    bool operator==(const NamedStream&) const = default;
};

struct ComputeDetail {
    std::uint64_t operations = 0;    // num_ops
    std::uint64_t tensor_bytes = 0;  // tensor_size; memory traffic of a roofline
    bool has_operations = false;
    bool has_tensor = false;
    // It says itself that it has nothing to do: no duration is missing.
    bool is_instant() const { return has_operations && operations == 0; }
    bool operator==(const ComputeDetail&) const = default;
};
struct MemoryDetail {
    Bytes bytes;
    bool operator==(const MemoryDetail&) const = default;
};
struct PointDetail {
    std::uint32_t peer_role = 0;
    std::uint32_t tag = 0;
    Bytes bytes;
    bool operator==(const PointDetail&) const = default;
};
struct CollectiveDetail {
    CollectiveKind kind{};
    bool has_dimensions = false;  // involved_dim was given and not empty
    std::uint32_t group_role = 0;
    std::uint32_t root_role = 0;   // a peer role; kNoRole where the trace names no root
    std::uint32_t dimensions = 0;  // involved_dim: bit k for dimension k; trues beyond 32 dropped
    std::uint64_t priority = 0;    // comm_priority
    Bytes bytes;
    std::uint32_t pairs = kNoRole;         // index into ExecutionGraph::pairs
    std::uint32_t transfer = kNoTransfer;  // of gradients: index into the forecast of its group
    std::uint32_t iteration = 0;           // of a transfer
    bool operator==(const CollectiveDetail&) const = default;
};

// The sizes of an all_to_all pair by pair, by position in the group.
struct PairDetail {
    std::vector<std::uint64_t> sends;     // B
    std::vector<std::uint64_t> receives;  // B; empty = not said
    bool operator==(const PairDetail&) const = default;
};

struct ExecutionGraph {
    // --- an entry an op ---
    std::vector<OpKind> kind;
    std::vector<std::uint8_t> on_cpu;         // is_cpu_op
    std::vector<std::uint64_t> node_id;       // id in the trace, ascending
    std::vector<std::uint64_t> duration_ps;   // recorded duration; 0 = none
    std::vector<std::uint32_t> detail;        // index into the table of its kind below
    std::vector<std::uint32_t> name;          // index into `names`
    std::vector<std::uint32_t> parent_count;  // distinct parents (data and control)
    std::vector<std::uint32_t> child_begin;   // size() + 1 entries into `child`
    std::vector<std::uint32_t> child;         // ascending within an op
    // --- of training; empty where iterations were not looked for ---
    std::vector<std::uint32_t> iteration;  // of the op
    std::vector<std::uint32_t> order;      // of two ready ops the one with the lower goes first
    // --- of traces that name streams (stream_order.h); else empty ---
    std::vector<std::uint32_t> stream;  // of the op: index into `streams`, or kNoStream
    std::vector<NamedStream> streams;
    // --- tables ---
    std::vector<ComputeDetail> computes;
    std::vector<MemoryDetail> memories;
    std::vector<PointDetail> points;
    std::vector<CollectiveDetail> collectives;
    std::vector<PairDetail> pairs;
    std::vector<std::string> names;  // distinct; cut to 200 bytes
    std::uint32_t peer_roles = 0;    // size of RankTrace::peers
    std::uint32_t group_roles = 0;   // size of RankTrace::groups

    std::uint32_t size() const { return static_cast<std::uint32_t>(kind.size()); }
    std::string_view name_of(OpId op) const { return names[name[index(op)]]; }
    // Whether edges order it in a stream of its trace.
    bool in_named_stream(std::uint32_t op) const {
        return !stream.empty() && stream[op] != kNoStream;
    }
    // Whether it is a collective that reduces gradients.
    bool is_transfer(OpId op) const {
        return kind[index(op)] == OpKind::Collective &&
               collectives[detail[index(op)]].transfer != kNoTransfer;
    }
    bool operator==(const ExecutionGraph&) const = default;
};

// What one rank adds to a shared graph. Ranks are those of the job, 0 … ranks-1.
struct RankTrace {
    std::shared_ptr<const ExecutionGraph> graph;
    std::vector<std::uint32_t> peers;   // peer role -> rank of the job
    std::vector<std::uint32_t> groups;  // group role -> index into Workload::groups
    std::string file;                   // for messages
};

struct GroupDefinition {
    std::string name;
    std::vector<std::uint32_t> ranks;  // of the job, in the order of the file: the order of a ring
    bool operator==(const GroupDefinition&) const = default;
};

// A whole job, checked: peers in range, every group of an op defined and with its rank in it.
struct Workload {
    std::vector<RankTrace> ranks;
    std::vector<GroupDefinition> groups;  // the group of all ranks is there if an op uses it
    std::uint64_t dropped_dependencies = 0;
    std::uint32_t iterations = 0;          // that the graphs tell apart; 0 = not looked for
    std::vector<GroupForecast> forecasts;  // by group; without transfers where there are none
};

}  // namespace astra
