#include "workload/order/job_order.h"

#include <algorithm>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "workload/graph/messages.h"
#include "workload/order/collective_matching.h"
#include "workload/order/message_matching.h"

namespace astra {

namespace {

constexpr std::size_t kMostSteps = 20;
constexpr std::size_t kMostRanks = 10;

std::string list_ranks(const OrderNames& names, const std::vector<std::uint32_t>& ranks) {
    std::string text;
    for (std::size_t i = 0; i < std::min(ranks.size(), kMostRanks); ++i) {
        text += fmt::format("{}{}", i == 0 ? "" : ", ", names.ranks[ranks[i]]);
    }
    if (ranks.size() > kMostRanks) {
        text += fmt::format(" and {} more", ranks.size() - kMostRanks);
    }
    return ranks.empty() ? "none" : text;
}

class CircleReport {
  public:
    CircleReport(const OpMatching& matching, const OrderNames& names, const MergedOrder& order)
        : matching_(matching), workload_(matching.workload()), names_(names), order_(order) {}

    [[noreturn]] void fail() const;

  private:
    bool within_a_group() const;
    std::string node(const RankOp& at) const;
    std::string steps() const;
    std::string meeting(const BlockedMeeting& blocked) const;

    const OpMatching& matching_;
    const Workload& workload_;
    const OrderNames& names_;
    const MergedOrder& order_;
};

// Whether all that wait are collectives of one group: its ranks disagree about their order.
bool CircleReport::within_a_group() const {
    return order_.blocked.size() == order_.circle.size() &&
           std::all_of(order_.blocked.begin(), order_.blocked.end(), [&](const auto& blocked) {
               return blocked.meeting.group == order_.blocked.front().meeting.group;
           });
}

// "node 3 (first: all_reduce of 8 B, group 'dp', collective 0)"
std::string CircleReport::node(const RankOp& at) const {
    const ExecutionGraph& graph = *workload_.ranks[at.rank].graph;
    std::string text = fmt::format("node {} ({}: {}",
                                   graph.node_id[at.op],
                                   printable(graph.name_of(OpId{at.op})),
                                   request_text(names_, workload_, at));
    if (graph.kind[at.op] == OpKind::Collective) {
        const Meeting there = matching_.meeting_of(at);
        text += fmt::format(
            ", {}, collective {}", group_text(names_, workload_, there.group), there.number);
    }
    return text + ")";
}

std::string CircleReport::steps() const {
    std::string text;
    for (std::size_t i = 0; i < std::min(order_.circle.size(), kMostSteps); ++i) {
        const CircleStep& step = order_.circle[i];
        text += fmt::format("\n  rank {}: {} comes after {}",
                            names_.ranks[step.rank],
                            node({step.rank, step.needed}),
                            node({step.rank, step.waiting}));
    }
    if (order_.circle.size() > kMostSteps) {
        text += fmt::format("\n  and {} more", order_.circle.size() - kMostSteps);
    }
    return text;
}

// As the report of a run that is stuck says it.
std::string CircleReport::meeting(const BlockedMeeting& blocked) const {
    return fmt::format("{}, collective {} ({}): arrived: ranks {}; missing: ranks {}",
                       group_text(names_, workload_, blocked.meeting.group),
                       blocked.meeting.number,
                       request_text(names_, workload_, blocked.example),
                       list_ranks(names_, blocked.came),
                       list_ranks(names_, blocked.missing));
}

void CircleReport::fail() const {
    if (within_a_group()) {
        throw InputError(
            fmt::format("the ranks of {} disagree about the order of its collectives, each of "
                        "which comes after another:{}",
                        group_text(names_, workload_, order_.blocked.front().meeting.group),
                        steps()));
    }
    std::string text = fmt::format(
        "cannot finish: deadlock, whatever the time ops take: {} ranks wait for each other in a "
        "circle:{}",
        order_.circle.size(),
        steps());
    for (std::size_t i = 0; i < std::min(order_.blocked.size(), kMostSteps); ++i) {
        text += (i == 0 ? "\nunfinished collectives:\n  " : "\n  ") + meeting(order_.blocked[i]);
    }
    throw SimulationError(text);
}

}  // namespace

JobOrder::JobOrder(const Workload& workload,
                   const OrderRules& rules,
                   const OrderNames& names,
                   Warnings& warnings)
    : matching_(workload, rules.naming), rendezvous_(rules.rendezvous) {
    MatchedCollectives matched = match_collectives(matching_, rules.naming, names, true);
    match_messages(matching_, names);
    order_ = find_order(matching_, rendezvous_);
    if (!order_.circle.empty() && matched.by_names) {
        // Names are a hint: where no order can follow them, positions decide.
        matching_.reset_collectives();
        matched = match_collectives(matching_, rules.naming, names, false);
        order_ = find_order(matching_, rendezvous_);
    }
    if (!order_.circle.empty()) {
        CircleReport(matching_, names, order_).fail();
    }
    if (!matched.reordered.empty()) {
        warnings.add(fmt::format(
            "ranks of {} group{} list their collectives in different order, which are matched by "
            "what they ask for and by name: {}",
            matched.reordered.size(),
            matched.reordered.size() == 1 ? "" : "s",
            matched.reordered.front()));
    }
}

}  // namespace astra
