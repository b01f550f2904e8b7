#include "workload/replay/stuck_report.h"

#include <fmt/format.h>

namespace astra {

std::string StuckReport::describe_receive(const PointRequest& request) const {
    std::string text = fmt::format("waits for a message from rank {}, tag {}, {} B",
                                   request.source,
                                   request.tag,
                                   request.bytes.count);
    for (const ReplayedRank& other : ranks_) {
        if (other.fabric_rank == request.source && other.started && other.streams.ops_left() == 0) {
            text += fmt::format("; rank {} has finished", request.source);
        }
    }
    const std::string near = points_.near_match(request);
    return near.empty() ? text : text + "; " + near;
}

std::string StuckReport::describe_collective(const ReplayedRank& rank, std::uint32_t op) const {
    const ExecutionGraph& graph = rank.graph();
    const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
    const GroupMember& member = rank.group_of(detail);
    return "waits in " +
           (detail.transfer == kNoTransfer
                ? collectives_.describe_waiting(member.group, member.position)
                : transfers_.describe_waiting(member.group, member.position, piece_of(detail)));
}

std::string StuckReport::describe(const ReplayedRank& rank, std::uint32_t op) const {
    const ExecutionGraph& graph = rank.graph();
    const std::string node = fmt::format(
        "rank {}: node {} ({}) ", rank.fabric_rank, graph.node_id[op], graph.name_of(OpId{op}));
    switch (graph.kind[op]) {
        case OpKind::Recv:
            return node + describe_receive(requests_.point(rank, op));
        case OpKind::Send: {
            const PointRequest request = requests_.point(rank, op);
            return node + fmt::format("waits until rank {} asks for its message, tag {}, {} B",
                                      request.destination,
                                      request.tag,
                                      request.bytes.count);
        }
        case OpKind::Collective:
            return node + describe_collective(rank, op);
        default:
            return node + "has not finished";
    }
}

std::vector<std::string> StuckReport::lines(std::size_t most) const {
    std::vector<std::string> lines;
    std::uint64_t more = 0;
    for (const ReplayedRank& rank : ranks_) {
        if (rank.streams.ops_left() == 0) {
            continue;
        }
        if (!rank.started) {
            lines.push_back(fmt::format("rank {}: its job has not started", rank.fabric_rank));
        }
        for (std::uint32_t op = 0; op < rank.graph().size(); ++op) {
            if (!rank.streams.is_running(op)) {
                continue;
            }
            if (lines.size() < most) {
                lines.push_back(describe(rank, op));
            } else {
                ++more;
            }
        }
    }
    if (more > 0) {
        lines.push_back(fmt::format("and {} more ops", more));
    }
    return lines;
}

}  // namespace astra
