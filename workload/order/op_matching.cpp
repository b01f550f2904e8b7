#include "workload/order/op_matching.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace astra {

OpMatching::OpMatching(const Workload& workload, const CollectiveNaming& naming)
    : workload_(workload), uses_(workload.groups.size()), others_(workload.ranks.size()) {
    std::unordered_map<const ExecutionGraph*, const GraphProgram*> known;
    for (std::uint32_t rank = 0; rank < workload.ranks.size(); ++rank) {
        const RankTrace& trace = workload.ranks[rank];
        const auto [entry, is_new] = known.try_emplace(trace.graph.get(), nullptr);
        if (is_new) {
            entry->second = &programs_.emplace_back(*trace.graph, naming);
        }
        program_of_.push_back(entry->second);
        for (std::uint32_t role = 0; role < trace.groups.size(); ++role) {
            uses_[trace.groups[role]].push_back({rank, role});
        }
        auto& roles = by_peer_.emplace_back(trace.peers.size());
        std::iota(roles.begin(), roles.end(), 0U);
        std::sort(roles.begin(), roles.end(), [&](std::uint32_t a, std::uint32_t b) {
            return trace.peers[a] < trace.peers[b];
        });
    }
    std::vector<std::uint32_t> counts(uses_.size());
    for (std::uint32_t group = 0; group < uses_.size(); ++group) {
        for (const GroupUse& use : uses_[group]) {
            const auto size = program(use.rank).role(use.role).ops.size();
            counts[group] = std::max(counts[group], static_cast<std::uint32_t>(size));
        }
    }
    count_collectives(counts);
}

void OpMatching::count_collectives(const std::vector<std::uint32_t>& counts) {
    first_.assign(1, 0);
    for (std::uint32_t group = 0; group < uses_.size(); ++group) {
        std::size_t transfers = 0;
        for (const GroupUse& use : uses_[group]) {
            transfers = std::max(transfers, program(use.rank).role(use.role).transfers.size());
        }
        first_.push_back(first_.back() + counts[group]);
        first_.push_back(first_.back() + static_cast<std::uint32_t>(transfers));
    }
}

std::uint32_t OpMatching::number_of(const RankOp& at) const {
    const GraphProgram& there = program(at.rank);
    const RankNumbers* numbers = others_[at.rank].get();
    if (numbers != nullptr) {
        const ExecutionGraph& graph = there.graph();
        const auto& table =
            graph.kind[at.op] == OpKind::Collective ? numbers->collectives : numbers->points;
        if (!table.empty()) {
            return table[graph.detail[at.op]];
        }
    }
    return there.number_of(at.op);
}

Meeting OpMatching::meeting_of(const RankOp& at) const {
    const RankTrace& trace = workload_.ranks[at.rank];
    const ExecutionGraph& graph = *trace.graph;
    const CollectiveDetail& detail = graph.collectives[graph.detail[at.op]];
    Meeting meeting;
    meeting.group = trace.groups[detail.group_role];
    meeting.waits = waits_elsewhere(at);
    meeting.number = number_of(at);
    meeting.id = first_[2 * std::size_t{meeting.group} + (meeting.waits ? 1 : 0)] + meeting.number;
    return meeting;
}

std::uint32_t OpMatching::op_in(const GroupUse& use, const Meeting& meeting) const {
    const RoleCollectives& role = program(use.rank).role(use.role);
    const RankNumbers* numbers = others_[use.rank].get();
    const std::vector<std::uint32_t>& ops = meeting.waits ? role.transfers
                                            : numbers != nullptr && !numbers->ops.empty()
                                                ? numbers->ops[use.role]
                                                : role.ops;
    return meeting.number < ops.size() ? ops[meeting.number] : kNoOp;
}

std::uint32_t OpMatching::role_for(std::uint32_t rank, std::uint32_t peer) const {
    const std::vector<std::uint32_t>& peers = workload_.ranks[rank].peers;
    const std::vector<std::uint32_t>& roles = by_peer_[rank];
    const auto found = std::lower_bound(
        roles.begin(), roles.end(), peer, [&](std::uint32_t role, std::uint32_t wanted) {
            return peers[role] < wanted;
        });
    return found == roles.end() || peers[*found] != peer ? kNoRole : *found;
}

RankOp OpMatching::partner_of(const RankOp& at) const {
    const RankTrace& trace = workload_.ranks[at.rank];
    Channel channel = channel_of(*trace.graph, at.op);
    RankOp partner{trace.peers[channel.peer_role], kNoOp};
    channel.peer_role = role_for(partner.rank, at.rank);
    channel.sends = !channel.sends;
    if (channel.peer_role == kNoRole) {
        return partner;
    }
    const std::uint32_t number = number_of(at);
    const RankNumbers* numbers = others_[partner.rank].get();
    if (numbers != nullptr) {
        const auto found = numbers->messages.find(channel);
        if (found != numbers->messages.end()) {
            partner.op = number < found->second.size() ? found->second[number] : kNoOp;
            return partner;
        }
    }
    partner.op = program(partner.rank).message(channel, number);
    return partner;
}

OpMatching::RankNumbers& OpMatching::numbers_for(std::uint32_t rank) {
    std::unique_ptr<RankNumbers>& numbers = others_[rank];
    if (numbers == nullptr) {
        numbers = std::make_unique<RankNumbers>();
    }
    return *numbers;
}

void OpMatching::renumber_collectives(std::uint32_t rank,
                                      const std::vector<std::uint32_t>& ops,
                                      const std::vector<std::uint32_t>& numbers) {
    const GraphProgram& there = program(rank);
    const ExecutionGraph& graph = there.graph();
    RankNumbers& others = numbers_for(rank);
    if (others.ops.empty()) {
        others.collectives.resize(graph.collectives.size());
        for (std::uint32_t role = 0; role < graph.group_roles; ++role) {
            const RoleCollectives& collectives = there.role(role);
            others.ops.push_back(collectives.ops);
            for (const auto* list : {&collectives.ops, &collectives.transfers}) {
                for (const std::uint32_t op : *list) {
                    others.collectives[graph.detail[op]] = there.number_of(op);
                }
            }
        }
    }
    // Two roles may stand for one group.
    for (const std::uint32_t op : ops) {
        others.ops[graph.collectives[graph.detail[op]].group_role].clear();
    }
    for (std::size_t i = 0; i < ops.size(); ++i) {
        others.collectives[graph.detail[ops[i]]] = numbers[i];
        auto& by_number = others.ops[graph.collectives[graph.detail[ops[i]]].group_role];
        if (by_number.size() <= numbers[i]) {
            by_number.resize(numbers[i] + std::size_t{1}, kNoOp);
        }
        by_number[numbers[i]] = ops[i];
    }
}

void OpMatching::renumber_messages(std::uint32_t rank,
                                   const Channel& channel,
                                   const std::vector<std::uint32_t>& numbers) {
    const GraphProgram& there = program(rank);
    const ExecutionGraph& graph = there.graph();
    const auto ops = there.channel(channel);
    RankNumbers& others = numbers_for(rank);
    if (others.points.empty()) {
        others.points.resize(graph.points.size());
        for (const std::uint32_t op : there.communication()) {
            if (graph.kind[op] == OpKind::Send || graph.kind[op] == OpKind::Recv) {
                others.points[graph.detail[op]] = there.number_of(op);
            }
        }
    }
    auto& by_number = others.messages[channel];
    for (std::size_t i = 0; i < ops.size(); ++i) {
        others.points[graph.detail[ops[i]]] = numbers[i];
        if (by_number.size() <= numbers[i]) {
            by_number.resize(numbers[i] + std::size_t{1}, kNoOp);
        }
        by_number[numbers[i]] = ops[i];
    }
}

void OpMatching::reset_collectives() {
    for (std::unique_ptr<RankNumbers>& numbers : others_) {
        if (numbers != nullptr) {
            numbers->collectives.clear();
            numbers->ops.clear();
        }
    }
}

}  // namespace astra
