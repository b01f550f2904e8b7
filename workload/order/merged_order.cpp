#include "workload/order/merged_order.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "workload/order/meetings.h"

namespace astra {

namespace {

// Every rank goes through its program op by op.
bool runs_in_program_order(const OpMatching& matching, bool rendezvous) {
    Meetings meetings(matching, rendezvous);
    std::vector<std::size_t> next(matching.ranks());
    std::vector<std::uint32_t> active;
    for (std::uint32_t rank = matching.ranks(); rank > 0; --rank) {
        active.push_back(rank - 1);
    }
    std::vector<RankOp> ended;
    while (!active.empty()) {
        const std::uint32_t rank = active.back();
        active.pop_back();
        const auto& ops = matching.program(rank).communication();
        for (bool blocked = false; next[rank] < ops.size() && !blocked;) {
            blocked = true;
            ended.clear();
            meetings.reach({rank, ops[next[rank]]}, ended);
            for (const RankOp& op : ended) {
                ++next[op.rank];
                if (op.rank == rank) {
                    blocked = false;
                } else {
                    active.push_back(op.rank);
                }
            }
        }
    }
    for (std::uint32_t rank = 0; rank < matching.ranks(); ++rank) {
        if (next[rank] < matching.program(rank).communication().size()) {
            return false;
        }
    }
    return true;
}

// Takes the ops of all graphs in topological order.
class TopologicalRun {
  public:
    TopologicalRun(const OpMatching& matching, bool rendezvous)
        : matching_(matching), meetings_(matching, rendezvous) {}

    MergedOrder run();

  private:
    static constexpr std::uint32_t kEnded = 0xffffffffU;

    struct Ready {
        std::uint32_t position;  // in the program
        RankOp at;
        bool operator>(const Ready& other) const {
            return std::tie(position, at.rank) > std::tie(other.position, other.at.rank);
        }
    };

    void make_ready(const RankOp& at) {
        ready_.push({matching_.program(at.rank).position_of(at.op), at});
    }
    void end(const RankOp& at);
    void find_circle(MergedOrder& result);
    RankOp waits_for(const RankOp& at);
    const std::vector<std::uint32_t>& blocked_parents(std::uint32_t rank);
    void add_blocked(const RankOp& at, MergedOrder& result) const;

    const OpMatching& matching_;
    Meetings meetings_;
    std::vector<std::vector<std::uint32_t>> parents_left_;  // by rank and op; or kEnded
    std::vector<std::vector<std::uint32_t>> order_;         // by rank: communication ops
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> blocked_parents_;  // by rank
};

void TopologicalRun::end(const RankOp& at) {
    const ExecutionGraph& graph = matching_.program(at.rank).graph();
    std::vector<std::uint32_t>& left = parents_left_[at.rank];
    left[at.op] = kEnded;
    if (graph.kind[at.op] == OpKind::Recv || takes_communication_stream(graph, at.op)) {
        order_[at.rank].push_back(at.op);
    }
    for (std::uint32_t i = graph.child_begin[at.op]; i < graph.child_begin[at.op + 1]; ++i) {
        if (--left[graph.child[i]] == 0) {
            make_ready({at.rank, graph.child[i]});
        }
    }
}

MergedOrder TopologicalRun::run() {
    order_.resize(matching_.ranks());
    for (std::uint32_t rank = 0; rank < matching_.ranks(); ++rank) {
        const ExecutionGraph& graph = matching_.program(rank).graph();
        parents_left_.push_back(graph.parent_count);
        for (std::uint32_t op = 0; op < graph.size(); ++op) {
            if (graph.parent_count[op] == 0) {
                make_ready({rank, op});
            }
        }
    }
    std::vector<RankOp> ended;
    while (!ready_.empty()) {
        const RankOp at = ready_.top().at;
        ready_.pop();
        ended.clear();
        meetings_.reach(at, ended);
        for (const RankOp& op : ended) {
            end(op);
        }
    }
    MergedOrder result;
    find_circle(result);
    for (std::uint32_t rank = 0; rank < matching_.ranks() && result.circle.empty(); ++rank) {
        const bool as_program = order_[rank] == matching_.program(rank).communication();
        result.communication.push_back(
            as_program ? nullptr
                       : std::make_unique<std::vector<std::uint32_t>>(std::move(order_[rank])));
    }
    return result;
}

// By op of the rank: a parent that has not ended, of those that have one.
const std::vector<std::uint32_t>& TopologicalRun::blocked_parents(std::uint32_t rank) {
    const auto [entry, is_new] = blocked_parents_.try_emplace(rank);
    if (is_new) {
        const ExecutionGraph& graph = matching_.program(rank).graph();
        entry->second.assign(graph.size(), kNoOp);
        for (std::uint32_t op = graph.size(); op > 0; --op) {
            if (parents_left_[rank][op - 1] == kEnded) {
                continue;
            }
            for (std::uint32_t i = graph.child_begin[op - 1]; i < graph.child_begin[op]; ++i) {
                entry->second[graph.child[i]] = op - 1;
            }
        }
    }
    return entry->second;
}

RankOp TopologicalRun::waits_for(const RankOp& at) {
    return parents_left_[at.rank][at.op] > 0 ? RankOp{at.rank, blocked_parents(at.rank)[at.op]}
                                             : meetings_.missing_for(at);
}

void TopologicalRun::add_blocked(const RankOp& at, MergedOrder& result) const {
    if (matching_.program(at.rank).graph().kind[at.op] != OpKind::Collective) {
        return;
    }
    BlockedMeeting& blocked = result.blocked.emplace_back();
    blocked.meeting = matching_.meeting_of(at);
    blocked.example = at;
    matching_.for_members(blocked.meeting, [&](const RankOp& member) {
        (meetings_.was_reached(member) ? blocked.came : blocked.missing).push_back(member.rank);
    });
}

void TopologicalRun::find_circle(MergedOrder& result) {
    RankOp at;
    for (std::uint32_t rank = 0; rank < matching_.ranks() && at.op == kNoOp; ++rank) {
        const std::vector<std::uint32_t>& left = parents_left_[rank];
        const auto found =
            std::find_if(left.begin(), left.end(), [](std::uint32_t n) { return n != kEnded; });
        if (found != left.end()) {
            at = {rank, static_cast<std::uint32_t>(found - left.begin())};
        }
    }
    if (at.op == kNoOp) {
        return;
    }
    // Each op that has not ended waits for such an op: going on must come round.
    std::vector<std::vector<bool>> seen;
    for (const auto& left : parents_left_) {
        seen.emplace_back(left.size());
    }
    while (!seen[at.rank][at.op]) {
        seen[at.rank][at.op] = true;
        at = waits_for(at);
    }
    // On to an op that others wait for.
    while (parents_left_[at.rank][at.op] > 0) {
        at = waits_for(at);
    }
    const RankOp first = at;
    do {
        const RankOp needed = waits_for(at);
        for (at = needed; parents_left_[at.rank][at.op] > 0;) {
            at = waits_for(at);
        }
        result.circle.push_back({at.rank, needed.op, at.op});
        add_blocked(at, result);
    } while (!(at == first));
}

}  // namespace

MergedOrder find_order(const OpMatching& matching, bool rendezvous) {
    if (runs_in_program_order(matching, rendezvous)) {
        MergedOrder result;
        result.communication.resize(matching.ranks());
        return result;
    }
    return TopologicalRun(matching, rendezvous).run();
}

}  // namespace astra
