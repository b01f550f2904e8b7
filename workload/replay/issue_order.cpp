#include "workload/replay/issue_order.h"

#include <algorithm>

#include <fmt/format.h>

namespace astra {

namespace {

constexpr std::uint64_t kMessage = std::uint64_t{1} << 63U;

std::uint64_t pack(const RankOp& at) {
    return kMessage | (std::uint64_t{at.rank} << 32U) | at.op;
}

}  // namespace

IssueOrder::Parents::Parents(const ExecutionGraph& graph)
    : begin(graph.size() + std::size_t{1}), parent(graph.child.size()) {
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        begin[op + std::size_t{1}] = begin[op] + graph.parent_count[op];
    }
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        for (std::uint32_t i = graph.child_begin[op]; i < graph.child_begin[op + 1]; ++i) {
            parent[next[graph.child[i]]++] = op;
        }
    }
}

IssueOrder::IssueOrder(const JobOrder& order,
                       std::vector<ReplayedRank>& ranks,
                       std::uint32_t first_rank,
                       std::uint32_t streams)
    : order_(order),
      matching_(order.matching()),
      ranks_(ranks),
      first_rank_(first_rank),
      streams_(streams),
      states_(matching_.ranks()),
      came_(matching_.meetings()) {}

const IssueOrder::Parents& IssueOrder::parents_of(const ExecutionGraph& graph) {
    return parents_.try_emplace(&graph, graph).first->second;
}

bool IssueOrder::takes_stream(const RankOp& at) const {
    const ExecutionGraph& there = graph(at.rank);
    return takes_communication_stream(there, at.op) &&
           !(there.kind[at.op] == OpKind::Collective && matching_.waits_elsewhere(at));
}

bool IssueOrder::waits_for_others(const RankOp& at) const {
    const OpKind kind = graph(at.rank).kind[at.op];
    return kind == OpKind::Collective ? takes_stream(at)
                                      : kind == OpKind::Send && order_.rendezvous();
}

IssueOrder::Shared IssueOrder::shared_of(const RankOp& at) const {
    return graph(at.rank).kind[at.op] == OpKind::Collective ? matching_.meeting_of(at).id
                                                            : pack(at);
}

// The first op in the order that has not begun and takes a stream.
std::uint32_t IssueOrder::first_of(std::uint32_t rank) {
    Rank& state = states_[rank];
    if (!state.first.empty()) {
        return state.first.begin()->second;
    }
    const std::vector<std::uint32_t>& ops = order_.communication(rank);
    while (state.next < ops.size() &&
           (has_begun({rank, ops[state.next]}) || !takes_stream({rank, ops[state.next]}))) {
        ++state.next;
    }
    return state.next < ops.size() ? ops[state.next] : kNoOp;
}

bool IssueOrder::may_begin(std::uint32_t rank, std::uint32_t op) {
    const RankOp at{rank, op};
    if (!waits_for_others(at)) {
        return true;
    }
    Rank& state = states_[rank];
    state.first_when_held = first_of(rank);
    return state.first_when_held == op || state.waiting.size() + 1 < streams_ || put_first(at);
}

// An op that has to begin before the op at hand can end, or with it.
void IssueOrder::needs(const RankOp& at) {
    if (states_[at.rank].waiting.size() >= streams_) {
        full_ = at.rank;
    }
}

void IssueOrder::visit_parents(const RankOp& at) {
    const Parents& parents = parents_of(graph(at.rank));
    for (std::uint32_t i = parents.begin[at.op]; i < parents.begin[at.op + 1]; ++i) {
        if (!streams(at.rank).is_done(parents.parent[i])) {
            stack_.push_back({{at.rank, parents.parent[i]}});
        }
    }
}

void IssueOrder::enter(const RankOp& at) {
    const OpKind kind = graph(at.rank).kind[at.op];
    if (!seen_.insert(kind == OpKind::Collective ? matching_.meeting_of(at).id : pack(at)).second) {
        return;
    }
    stack_.push_back({at, true});
    if (kind == OpKind::Collective) {
        const bool streams_needed = takes_stream(at);
        matching_.for_members(matching_.meeting_of(at), [&](const RankOp& member) {
            if (!has_begun(member)) {
                if (streams_needed) {
                    needs(member);
                }
                visit_parents(member);
            }
        });
        return;
    }
    const bool begun = has_begun(at);
    if (!begun) {
        if (takes_stream(at)) {
            needs(at);
        }
        visit_parents(at);
    }
    if (kind == OpKind::Recv || (kind == OpKind::Send && order_.rendezvous())) {
        const RankOp partner = matching_.partner_of(at);
        if (partner.op == kNoOp || has_begun(partner)) {
            return;
        }
        if (kind == OpKind::Recv) {
            stack_.push_back({partner});
        } else {
            visit_parents(partner);
        }
    }
}

void IssueOrder::leave(const RankOp& at) {
    if (!takes_stream(at)) {
        return;
    }
    if (graph(at.rank).kind[at.op] != OpKind::Collective) {
        if (!has_begun(at)) {
            before_.push_back(at);
        }
        return;
    }
    matching_.for_members(matching_.meeting_of(at), [&](const RankOp& member) {
        if (!has_begun(member)) {
            before_.push_back(member);
        }
    });
}

// Puts the op, its other members and all that has to end before it first in the order. False if
// they would not be first, or if some rank that has to begin one of them has no stream for it.
bool IssueOrder::put_first(const RankOp& at) {
    seen_.clear();
    before_.clear();
    stack_.assign(1, {at});
    full_ = kNoOp;
    while (!stack_.empty()) {
        const Visit visit = stack_.back();
        stack_.pop_back();
        if (visit.leaves) {
            leave(visit.at);
        } else {
            enter(visit.at);
        }
        if (full_ != kNoOp) {
            hold_for(at, full_);
            return false;
        }
    }
    // Something else of this rank has to begin before: it is looked at again when that has.
    if (std::any_of(before_.begin(), before_.end(), [&](const RankOp& op) {
            return op.rank == at.rank && op.op != at.op;
        })) {
        states_[at.rank].held_for_itself = true;
        return false;
    }
    lowest_ -= static_cast<std::int64_t>(before_.size());
    std::int64_t key = lowest_;
    for (const RankOp& op : before_) {
        Rank& state = states_[op.rank];
        const auto [entry, is_new] = state.key.try_emplace(op.op, key);
        if (!is_new) {
            state.first.erase(entry->second);
            entry->second = key;
        }
        state.first.emplace(key++, op.op);
        if (op.rank != at.rank && streams(op.rank).holds()) {
            release(op.rank);
        }
    }
    return true;
}

// Until one of those in which `full` waits is complete.
void IssueOrder::hold_for(const RankOp& held, std::uint32_t full) {
    for (const Waiting& waiting : states_[full].waiting) {
        held_for_[waiting.shared].insert(held.rank);
        const RankOp other{full, waiting.op};
        if (!example_.empty() || graph(full).kind[waiting.op] != OpKind::Collective) {
            continue;
        }
        matching_.for_members(matching_.meeting_of(other), [&](const RankOp& member) {
            if (member.rank != held.rank || has_begun(member)) {
                return;
            }
            const ExecutionGraph& there = graph(held.rank);
            example_ = fmt::format(
                "rank {}: node {} ({}) waited for node {} ({}), to which rank "
                "{} had come before",
                ranks_[first_rank_ + held.rank].fabric_rank,
                there.node_id[held.op],
                there.name_of(OpId{held.op}),
                there.node_id[member.op],
                there.name_of(OpId{member.op}),
                ranks_[first_rank_ + full].fabric_rank);
        });
    }
}

void IssueOrder::release(std::uint32_t rank) {
    streams(rank).release_held();
    released_.push_back(rank);
}

void IssueOrder::stop_waiting(std::uint32_t rank, Shared shared) {
    std::vector<Waiting>& waiting = states_[rank].waiting;
    const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const Waiting& entry) {
        return entry.shared == shared;
    });
    if (found == waiting.end()) {
        return;
    }
    waiting.erase(found);
    if (streams(rank).holds()) {
        release(rank);
    }
}

// Nobody waits in it any more, or one rank less.
void IssueOrder::complete(Shared shared) {
    const auto held = held_for_.find(shared);
    if (held == held_for_.end()) {
        return;
    }
    for (const std::uint32_t rank : held->second) {
        release(rank);
    }
    held_for_.erase(held);
}

void IssueOrder::began(std::uint32_t rank, std::uint32_t op) {
    const RankOp at{rank, op};
    Rank& state = states_[rank];
    if (!state.key.empty()) {
        const auto found = state.key.find(op);
        if (found != state.key.end()) {
            state.first.erase(found->second);
            state.key.erase(found);
        }
    }
    const OpKind kind = graph(rank).kind[op];
    if (kind == OpKind::Collective && takes_stream(at)) {
        const Meeting meeting = matching_.meeting_of(at);
        if (++came_[meeting.id] < matching_.workload().groups[meeting.group].ranks.size()) {
            state.waiting.push_back({meeting.id, op});
        } else {
            for (const GroupUse& use : matching_.uses_of(meeting.group)) {
                stop_waiting(use.rank, meeting.id);
            }
            complete(meeting.id);
        }
    } else if (order_.rendezvous() && (kind == OpKind::Send || kind == OpKind::Recv)) {
        const RankOp partner = matching_.partner_of(at);
        const bool met = partner.op != kNoOp && has_begun(partner);
        if (kind == OpKind::Send && !met) {
            state.waiting.push_back({pack(at), op});
        } else if (kind == OpKind::Recv && met) {
            stop_waiting(partner.rank, pack(partner));
            complete(pack(partner));
        }
    }
    if (streams(rank).holds() &&
        (state.held_for_itself || first_of(rank) != state.first_when_held)) {
        state.held_for_itself = false;
        streams(rank).release_held();
    }
}

void IssueOrder::ended(std::uint32_t rank, std::uint32_t op) {
    if (states_[rank].waiting.empty() || !waits_for_others({rank, op})) {
        return;
    }
    const Shared shared = shared_of({rank, op});
    stop_waiting(rank, shared);
    complete(shared);
}

}  // namespace astra
