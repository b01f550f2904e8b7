#include "workload/graph/graph_builder.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "astra/core/error.h"
#include "workload/graph/graph_edges.h"
#include "workload/graph/graph_order.h"
#include "workload/graph/messages.h"
#include "workload/graph/name_pool.h"
#include "workload/graph/parent_list.h"

namespace astra {
namespace {

constexpr std::uint64_t kMostId = std::uint64_t{1} << 63U;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 63U;
constexpr std::uint64_t kMostDuration = std::uint64_t{1} << 63U;
constexpr std::uint32_t kMostNodes = 0xfffffffeU;
constexpr std::size_t kMostName = 200;
constexpr std::size_t kMostDimensions = 32;
constexpr std::size_t kMostListed = 10;
constexpr std::size_t kLargeArray = std::size_t{1} << 20U;

template <typename Key>
std::uint32_t role_of(const Key& key,
                      std::unordered_map<Key, std::uint32_t>& roles,
                      std::vector<Key>& table) {
    const auto [entry, added] = roles.try_emplace(key, static_cast<std::uint32_t>(table.size()));
    if (added) {
        table.push_back(key);
    }
    return entry->second;
}

// The unused end of a large array was never touched and takes no memory, but a copy would.
template <typename T>
void shrink(std::vector<T>& values) {
    if (values.size() * sizeof(T) < kLargeArray) {
        values.shrink_to_fit();
    }
}

void shrink(ExecutionGraph& graph) {
    shrink(graph.kind);
    shrink(graph.on_cpu);
    shrink(graph.node_id);
    shrink(graph.duration_ps);
    shrink(graph.detail);
    shrink(graph.name);
    shrink(graph.parent_count);
    shrink(graph.computes);
    shrink(graph.memories);
    shrink(graph.points);
    shrink(graph.collectives);
    shrink(graph.pairs);
    shrink(graph.names);
}

}  // namespace

bool is_rooted(CollectiveKind kind) {
    return kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce ||
           kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter;
}

void TraceNode::clear() {
    id = 0;
    name.clear();
    kind = OpKind::Invalid;
    parents.clear();
    control_parents.clear();
    on_cpu = false;
    duration_ps = 0;
    operations.reset();
    tensor_bytes.reset();
    collective.reset();
    comm_bytes.reset();
    priority = 0;
    source.reset();
    destination.reset();
    tag.reset();
    group.clear();
    involved_dimensions.reset();
    pair_sends.clear();
    pair_receives.clear();
    stream_note = {};
}

struct GraphBuilder::Parts {
    std::string file;
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;
    ExecutionGraph graph;
    NamePool names;
    ParentList parents;
    std::vector<std::uint64_t> node_parents;
    std::vector<std::uint32_t> peers;
    std::unordered_map<std::uint32_t, std::uint32_t> peer_roles;
    std::vector<std::string> groups;
    std::unordered_map<std::string, std::uint32_t> group_roles;
    bool ascending = true;
    std::string last_name;
    std::uint64_t cpu_communications = 0;
    std::string first_cpu_communication;
    std::uint64_t dropped = 0;
    std::vector<StreamNote> notes;  // of the ops, as far as one of them says something
    std::optional<StreamUse> stream_use;
    StreamReport streams;

    [[noreturn]] void fail(const TraceNode& node, const std::string& what) const {
        throw TraceError(node_place(file, rank, node.id, node.name) + ": " + what);
    }
    std::uint64_t needed_bytes(const TraceNode& node,
                               const std::optional<std::uint64_t>& value,
                               const char* attribute) const;
    std::uint32_t peer(const TraceNode& node, std::uint32_t peer_rank, const char* attribute);
    std::uint32_t add_detail(const TraceNode& node);
    std::uint32_t add_point(const TraceNode& node);
    std::uint32_t add_collective(const TraceNode& node);
    std::uint32_t dimensions_of(const TraceNode& node) const;
    std::string op_text(std::uint32_t op) const;
    void refuse_repeat(const TraceNode& node) const;
    void refuse_duplicates() const;
    void refuse_cycles() const;
    void warn(const EdgeReport& report, Warnings& warnings) const;
    void add_note(const StreamNote& note);
    void follow_streams(const std::vector<std::uint32_t>& new_index);
};

void GraphBuilder::Parts::add_note(const StreamNote& note) {
    if (note.says_something()) {
        notes.resize(graph.size());
        notes.back() = note;
    }
}

void GraphBuilder::Parts::follow_streams(const std::vector<std::uint32_t>& new_index) {
    if (!stream_use || notes.empty()) {
        return;
    }
    notes.resize(graph.size());
    if (!new_index.empty()) {
        std::vector<StreamNote> sorted(notes.size());
        for (std::size_t i = 0; i < notes.size(); ++i) {
            sorted[new_index[i]] = notes[i];
        }
        notes = std::move(sorted);
    }
    streams = order_streams(graph, notes, *stream_use);
    notes = {};
}

std::uint64_t GraphBuilder::Parts::needed_bytes(const TraceNode& node,
                                                const std::optional<std::uint64_t>& value,
                                                const char* attribute) const {
    if (!value) {
        fail(node, std::string("attribute ") + attribute + " is missing");
    }
    if (*value > kMostBytes) {
        fail(node,
             std::string("attribute ") + attribute + ": " + std::to_string(*value) +
                 " is more than 2^63 bytes");
    }
    return *value;
}

std::uint32_t GraphBuilder::Parts::peer(const TraceNode& node,
                                        std::uint32_t peer_rank,
                                        const char* attribute) {
    if (peer_rank >= ranks) {
        fail(node,
             std::string("attribute ") + attribute + ": " + std::to_string(peer_rank) +
                 " is not a rank of the job; its ranks are 0 to " + std::to_string(ranks - 1));
    }
    return role_of(peer_rank, peer_roles, peers);
}

std::uint32_t GraphBuilder::Parts::add_point(const TraceNode& node) {
    const bool sends = node.kind == OpKind::Send;
    const char* far_name = sends ? "comm_dst" : "comm_src";
    const char* near_name = sends ? "comm_src" : "comm_dst";
    const auto& far = sends ? node.destination : node.source;
    const auto& near = sends ? node.source : node.destination;
    if (!far) {
        fail(node, std::string("attribute ") + far_name + " is missing");
    }
    if (!node.tag) {
        fail(node, "attribute comm_tag is missing");
    }
    if (near && *near != rank) {
        fail(node,
             std::string("attribute ") + near_name + ": " + std::to_string(*near) +
                 " is not the rank of the trace, " + std::to_string(rank));
    }
    PointDetail detail;
    detail.bytes.count = needed_bytes(node, node.comm_bytes, "comm_size");
    detail.peer_role = peer(node, *far, far_name);
    detail.tag = *node.tag;
    graph.points.push_back(detail);
    return static_cast<std::uint32_t>(graph.points.size() - 1);
}

std::uint32_t GraphBuilder::Parts::dimensions_of(const TraceNode& node) const {
    std::uint32_t bits = 0;
    bool any = false;
    for (std::size_t i = 0; i < node.involved_dimensions->size(); ++i) {
        if ((*node.involved_dimensions)[i]) {
            any = true;
            bits |= i < kMostDimensions ? 1U << i : 0U;
        }
    }
    if (!any) {
        fail(node, "attribute involved_dim has no true in it: no dimension is involved");
    }
    return bits;
}

std::uint32_t GraphBuilder::Parts::add_collective(const TraceNode& node) {
    if (!node.collective) {
        fail(node, "attribute comm_type is missing");
    }
    CollectiveDetail detail;
    detail.kind = *node.collective;
    detail.priority = node.priority;
    if (node.comm_bytes || detail.kind != CollectiveKind::Barrier) {
        detail.bytes.count = needed_bytes(node, node.comm_bytes, "comm_size");
    }
    detail.root_role = kNoRole;
    if (node.source && is_rooted(detail.kind)) {
        detail.root_role = peer(node, *node.source, "comm_src");
    }
    if (node.involved_dimensions && !node.involved_dimensions->empty()) {
        detail.dimensions = dimensions_of(node);
        detail.has_dimensions = true;
    }
    if (!node.pair_sends.empty()) {
        detail.pairs = static_cast<std::uint32_t>(graph.pairs.size());
        graph.pairs.push_back({node.pair_sends, node.pair_receives});
    }
    detail.group_role = role_of(node.group, group_roles, groups);
    graph.collectives.push_back(detail);
    return static_cast<std::uint32_t>(graph.collectives.size() - 1);
}

std::uint32_t GraphBuilder::Parts::add_detail(const TraceNode& node) {
    switch (node.kind) {
        case OpKind::Compute:
            graph.computes.push_back({node.operations.value_or(0),
                                      node.tensor_bytes.value_or(0),
                                      node.operations.has_value(),
                                      node.tensor_bytes.has_value()});
            return static_cast<std::uint32_t>(graph.computes.size() - 1);
        case OpKind::MemoryLoad:
        case OpKind::MemoryStore:
            graph.memories.push_back({Bytes{needed_bytes(node, node.tensor_bytes, "tensor_size")}});
            return static_cast<std::uint32_t>(graph.memories.size() - 1);
        case OpKind::Send:
        case OpKind::Recv:
            return add_point(node);
        case OpKind::Collective:
            return add_collective(node);
        case OpKind::Metadata:
        case OpKind::Invalid:
            break;
    }
    return 0;
}

std::string GraphBuilder::Parts::op_text(std::uint32_t op) const {
    return std::to_string(graph.node_id[op]) + " (" + printable(graph.name_of(OpId{op})) + ")";
}

// Zeros read as a trace are nodes of one id without end: no need to wait for the end of them.
void GraphBuilder::Parts::refuse_repeat(const TraceNode& node) const {
    if (!graph.node_id.empty() && node.id == graph.node_id.back()) {
        throw TraceError(node_place(file, rank, node.id, last_name) +
                         ": the id is used again by node " + std::to_string(node.id) + " (" +
                         printable(node.name) + ")");
    }
}

void GraphBuilder::Parts::refuse_duplicates() const {
    const auto found = std::adjacent_find(graph.node_id.begin(), graph.node_id.end());
    if (found != graph.node_id.end()) {
        const auto op = static_cast<std::uint32_t>(found - graph.node_id.begin());
        throw TraceError(node_place(file, rank, *found, graph.name_of(OpId{op})) +
                         ": the id is used again by node " + op_text(op + 1));
    }
}

void GraphBuilder::Parts::refuse_cycles() const {
    const std::vector<std::uint32_t> cycle = find_cycle(graph);
    if (cycle.empty()) {
        return;
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(cycle.size(), kMostListed); ++i) {
        text += (i == 0 ? "" : " -> ") + op_text(cycle[i]);
    }
    if (cycle.size() > kMostListed) {
        text += " -> ... (" + std::to_string(cycle.size()) + " nodes)";
    }
    throw TraceError(
        node_place(file, rank, graph.node_id[cycle[0]], graph.name_of(OpId{cycle[0]})) +
        ": the dependencies form a cycle: " + text + " -> " +
        std::to_string(graph.node_id[cycle[0]]));
}

void GraphBuilder::Parts::warn(const EdgeReport& report, Warnings& warnings) const {
    if (cpu_communications > 0) {
        warnings.add(file + ": is_cpu_op is true on " + std::to_string(cpu_communications) +
                     " communication nodes, first on node " + first_cpu_communication +
                     "; they are simulated as communication");
    }
    if (report.dropped > 0) {
        std::string text;
        for (const std::uint64_t id : report.first_dropped) {
            text += (text.empty() ? "" : ", ") + std::to_string(id);
        }
        warnings.add(file + ": dropped " + std::to_string(report.dropped) +
                     " dependencies on nodes that are not in the trace: " + text +
                     (report.dropped > report.first_dropped.size() &&
                              report.first_dropped.size() == kMostListed
                          ? ", ..."
                          : ""));
    }
    if (graph.size() == 0) {
        warnings.add(file + ": the trace has no nodes");
    }
}

GraphBuilder::GraphBuilder(std::string file, std::uint32_t rank, std::uint32_t ranks)
    : parts_(std::make_unique<Parts>()) {
    parts_->file = std::move(file);
    parts_->rank = rank;
    parts_->ranks = ranks;
}

GraphBuilder::~GraphBuilder() = default;

void GraphBuilder::add(const TraceNode& node) {
    Parts& parts = *parts_;
    ExecutionGraph& graph = parts.graph;
    if (node.id > kMostId) {
        parts.fail(node, "the id is larger than 2^63");
    }
    parts.refuse_repeat(node);
    if (graph.size() == kMostNodes) {
        parts.fail(node, "more than 2^32-2 nodes");
    }
    if (node.duration_ps > kMostDuration) {
        parts.fail(node, "the duration is longer than 2^63 ps");
    }
    const bool communicates =
        node.kind == OpKind::Send || node.kind == OpKind::Recv || node.kind == OpKind::Collective;
    if (communicates && node.on_cpu && ++parts.cpu_communications == 1) {
        parts.first_cpu_communication = std::to_string(node.id) + " (" + printable(node.name) + ")";
    }
    graph.detail.push_back(parts.add_detail(node));
    if (!graph.node_id.empty() && node.id <= graph.node_id.back()) {
        parts.ascending = false;
    }
    graph.kind.push_back(node.kind);
    graph.on_cpu.push_back(node.on_cpu && !communicates ? 1 : 0);
    graph.node_id.push_back(node.id);
    graph.duration_ps.push_back(node.duration_ps);
    parts.last_name = cut_text(node.name, kMostName);
    graph.name.push_back(parts.names.intern(parts.last_name));
    parts.node_parents = node.parents;
    parts.node_parents.insert(
        parts.node_parents.end(), node.control_parents.begin(), node.control_parents.end());
    graph.parent_count.push_back(parts.parents.add(node.id, parts.node_parents));
    parts.add_note(node.stream_note);
}

UnresolvedRank GraphBuilder::finish(Warnings& warnings) {
    Parts& parts = *parts_;
    ExecutionGraph& graph = parts.graph;
    graph.names = parts.names.take();
    std::vector<std::uint32_t> new_index;
    if (!parts.ascending) {
        new_index = sort_ops(graph, parts.peers, parts.groups);
        parts.refuse_duplicates();
    }
    const EdgeReport report = link_parents(graph, std::move(parts.parents), new_index);
    if (report.too_many) {
        throw TraceError(parts.file + ": more than 2^32-2 dependencies");
    }
    if (!report.forward_only) {
        parts.refuse_cycles();
    }
    parts.follow_streams(new_index);
    parts.dropped = report.dropped;
    parts.warn(report, warnings);
    graph.peer_roles = static_cast<std::uint32_t>(parts.peers.size());
    graph.group_roles = static_cast<std::uint32_t>(parts.groups.size());
    shrink(graph);
    return {std::make_shared<const ExecutionGraph>(std::move(graph)),
            std::move(parts.peers),
            std::move(parts.groups),
            parts.file};
}

void GraphBuilder::use_streams(const StreamUse& use) {
    parts_->stream_use = use;
}

const StreamReport& GraphBuilder::streams() const {
    return parts_->streams;
}

std::uint64_t GraphBuilder::dropped_dependencies() const {
    return parts_->dropped;
}

}  // namespace astra
