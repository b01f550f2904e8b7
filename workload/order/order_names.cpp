#include "workload/order/order_names.h"

#include <fmt/format.h>

#include "workload/graph/graph_builder.h"
#include "workload/graph/messages.h"

namespace astra {

std::string group_text(const OrderNames& names, const Workload& workload, std::uint32_t group) {
    return fmt::format("group '{}{}'", names.group_prefix, workload.groups[group].name);
}

std::uint32_t root_of(const Workload& workload, const RankOp& at) {
    const RankTrace& trace = workload.ranks[at.rank];
    const CollectiveDetail& detail = trace.graph->collectives[trace.graph->detail[at.op]];
    return detail.root_role != kNoRole
               ? trace.peers[detail.root_role]
               : workload.groups[trace.groups[detail.group_role]].ranks.front();
}

std::string request_text(const OrderNames& names, const Workload& workload, const RankOp& at) {
    const RankTrace& trace = workload.ranks[at.rank];
    const ExecutionGraph& graph = *trace.graph;
    if (graph.kind[at.op] != OpKind::Collective) {
        const PointDetail& point = graph.points[graph.detail[at.op]];
        return fmt::format("{} of {} B {} rank {}, tag {}",
                           name_of(graph.kind[at.op]),
                           point.bytes.count,
                           graph.kind[at.op] == OpKind::Send ? "to" : "from",
                           names.ranks[trace.peers[point.peer_role]],
                           point.tag);
    }
    const CollectiveDetail& detail = graph.collectives[graph.detail[at.op]];
    std::string text = fmt::format("{} of {} B", name_of(detail.kind), detail.bytes.count);
    if (detail.pairs != kNoRole) {
        text += " with a size for each pair";
    }
    if (is_rooted(detail.kind)) {
        text += fmt::format(" with the root at rank {}", names.ranks[root_of(workload, at)]);
    }
    if (detail.has_dimensions) {
        text += fmt::format(" over dimensions {:#b}", detail.dimensions);
    }
    return text;
}

std::string node_text(const OrderNames& names, const Workload& workload, const RankOp& at) {
    const ExecutionGraph& graph = *workload.ranks[at.rank].graph;
    return fmt::format("rank {}: node {} ({})",
                       names.ranks[at.rank],
                       graph.node_id[at.op],
                       printable(graph.name_of(OpId{at.op})));
}

}  // namespace astra
