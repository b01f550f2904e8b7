#include "workload/replay/op_requests.h"

#include <algorithm>

namespace astra {

CollectiveRequest OpRequests::collective(const ReplayedRank& rank, std::uint32_t op) const {
    const ExecutionGraph& graph = rank.graph();
    const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
    const Job& job = rank.job->job;
    CollectiveRequest request;
    request.kind = detail.kind;
    request.bytes = detail.bytes;
    request.bytes_are_a_shard =
        job.all_gather_shards &&
        (detail.kind == CollectiveKind::AllGather || detail.kind == CollectiveKind::Gather ||
         detail.kind == CollectiveKind::Scatter);
    request.dimensions = detail.has_dimensions ? detail.dimensions : ~0U;
    request.priority = detail.priority;
    if (rank.job->order != nullptr) {
        request.sequence = rank.job->order->matching().number_of({rank.number, op});
    }
    request.node_id = graph.node_id[op];
    request.node_algorithm = collectives_.node_algorithm(request.node_id);
    if (detail.pairs != kNoRole) {
        const PairDetail& pairs = graph.pairs[detail.pairs];
        request.pairs = {pairs.sends, pairs.receives, request.node_id};
    }
    if (detail.root_role != kNoRole) {
        const ProcessGroup& group = collectives_.group(rank.group_of(detail).group);
        const std::uint32_t root = job.fabric_ranks[rank.trace->peers[detail.root_role]];
        const auto& ranks = group.ranks();
        request.root =
            static_cast<std::uint32_t>(std::find(ranks.begin(), ranks.end(), root) - ranks.begin());
    }
    return request;
}

PointRequest OpRequests::point(const ReplayedRank& rank, std::uint32_t op) const {
    const ExecutionGraph& graph = rank.graph();
    const PointDetail& detail = graph.points[graph.detail[op]];
    const std::uint32_t peer = rank.job->job.fabric_ranks[rank.trace->peers[detail.peer_role]];
    const bool sends = graph.kind[op] == OpKind::Send;
    return {sends ? rank.fabric_rank : peer,
            sends ? peer : rank.fabric_rank,
            detail.tag,
            detail.bytes,
            rank.job->order->matching().number_of({rank.number, op}),
            graph.node_id[op]};
}

ComputeWork work_of(const ExecutionGraph& graph, std::uint32_t op) {
    const ComputeDetail& detail = graph.computes[graph.detail[op]];
    ComputeWork work;
    if (detail.has_operations) {
        work.operations = detail.operations;
    }
    if (detail.has_tensor) {
        work.traffic = Bytes{detail.tensor_bytes};
    }
    work.on_cpu = graph.on_cpu[op] != 0;
    return work;
}

}  // namespace astra
