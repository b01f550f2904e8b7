#include "workload/graph/workload_assembler.h"

#include <algorithm>
#include <string>
#include <utility>

#include "astra/core/error.h"
#include "workload/graph/content_hash.h"
#include "workload/graph/messages.h"

namespace astra {
namespace {

template <typename T>
void add_all(ContentHash& hash, const std::vector<T>& values) {
    hash.add(values.data(), values.size() * sizeof(T));
}

std::uint64_t hash_of(const ExecutionGraph& graph) {
    ContentHash hash;
    add_all(hash, graph.kind);
    add_all(hash, graph.node_id);
    add_all(hash, graph.duration_ps);
    add_all(hash, graph.child_begin);
    add_all(hash, graph.child);
    for (const ComputeDetail& compute : graph.computes) {
        hash.add_word(compute.operations);
        hash.add_word(compute.tensor_bytes);
    }
    for (const PointDetail& point : graph.points) {
        hash.add_word(point.bytes.count);
    }
    for (const CollectiveDetail& collective : graph.collectives) {
        hash.add_word(collective.bytes.count);
    }
    return hash.low();
}

// Throws at the first op of `trace` that `matches`.
template <typename Matches>
[[noreturn]] void fail_at(const UnresolvedRank& trace,
                          std::uint32_t rank,
                          const std::string& what,
                          const Matches& matches) {
    const ExecutionGraph& graph = *trace.graph;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        if (graph.kind[i] == OpKind::Collective && matches(graph.collectives[graph.detail[i]])) {
            throw TraceError(
                node_place(trace.file, rank, graph.node_id[i], graph.name_of(OpId{i})) + ": " +
                what);
        }
    }
    throw TraceError(trace.file + ": rank " + std::to_string(rank) + ": " + what);
}

}  // namespace

void WorkloadAssembler::add(UnresolvedRank& trace, std::uint64_t dropped_dependencies) {
    if (!shared_.contains(trace.graph.get())) {
        const std::uint64_t hash = hash_of(*trace.graph);
        const auto [first, last] = graphs_.equal_range(hash);
        const auto found = std::find_if(
            first, last, [&](const auto& entry) { return *entry.second == *trace.graph; });
        if (found != last) {
            trace.graph = found->second;
        } else {
            graphs_.emplace(hash, trace.graph);
            shared_.insert(trace.graph.get());
        }
    }
    workload_.dropped_dependencies += dropped_dependencies;
    ranks_.push_back(trace);
}

const std::vector<WorkloadAssembler::RootUse>& WorkloadAssembler::root_uses(
    const ExecutionGraph& graph) {
    const auto [entry, added] = root_uses_.try_emplace(&graph);
    if (added) {
        for (const CollectiveDetail& collective : graph.collectives) {
            const RootUse use{collective.group_role, collective.root_role};
            if (use.root_role != kNoRole &&
                std::find(entry->second.begin(), entry->second.end(), use) == entry->second.end()) {
                entry->second.push_back(use);
            }
        }
    }
    return entry->second;
}

void WorkloadAssembler::resolve(std::uint32_t rank, GroupTable& groups) {
    UnresolvedRank& trace = ranks_[rank];
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t role = 0; role < trace.group_names.size(); ++role) {
        const std::string& name = trace.group_names[role];
        const auto uses_role = [&](const CollectiveDetail& op) { return op.group_role == role; };
        const std::optional<std::uint32_t> group = groups.resolve(rank, name);
        const std::string quoted = "group '" + printable(name) + "' ";
        if (!group) {
            fail_at(trace, rank, quoted + groups.why_unknown(), uses_role);
        }
        if (!groups.has_member(*group, rank)) {
            fail_at(trace,
                    rank,
                    quoted + "does not have rank " + std::to_string(rank) + " in it",
                    uses_role);
        }
        numbers.push_back(*group);
    }
    for (const RootUse& use : root_uses(*trace.graph)) {
        const std::uint32_t root = trace.peers[use.root_role];
        if (!groups.has_member(numbers[use.group_role], root)) {
            fail_at(trace,
                    rank,
                    "attribute comm_src: the root " + std::to_string(root) +
                        " is not in the group '" + printable(trace.group_names[use.group_role]) +
                        "'",
                    [&](const CollectiveDetail& op) {
                        return op.group_role == use.group_role && op.root_role == use.root_role;
                    });
        }
    }
    workload_.ranks.push_back({std::move(trace.graph),
                               std::move(trace.peers),
                               std::move(numbers),
                               std::move(trace.file)});
}

Workload WorkloadAssembler::finish(GroupTable& groups) {
    graphs_.clear();
    workload_.ranks.reserve(ranks_.size());
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
        resolve(rank, groups);
    }
    workload_.groups = groups.take();
    return std::move(workload_);
}

}  // namespace astra
