// A job in a replay, and its ranks: what is known of them beforehand, and how far they are.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "astra/core/rank_classes.h"
#include "astra/core/types.h"
#include "workload/graph/execution_graph.h"
#include "workload/order/job_order.h"
#include "workload/record/iteration_log.h"
#include "workload/record/rank_activity.h"
#include "workload/replay/job.h"
#include "workload/replay/rank_streams.h"

namespace astra {

class IssueOrder;

// What a replay has found out about a graph; shared by all ranks of a class. At most 8 bytes an op.
struct GraphOutline {
    explicit GraphOutline(const ExecutionGraph& of);

    const ExecutionGraph* graph;
    std::vector<std::uint32_t> first_ops;    // those without parents, ascending
    std::vector<std::uint32_t> collectives;  // ops, ascending
    std::uint64_t communication_ops = 0;     // collectives, sends and receives
    std::uint32_t memory_access = kNoOp;     // the first op that loads or stores
};

struct ReplayedJob {
    // `first_rank`: index of its first rank among all that are replayed.
    ReplayedJob(Job added, std::uint32_t first_rank);
    ~ReplayedJob();
    ReplayedJob(const ReplayedJob&) = delete;
    ReplayedJob& operator=(const ReplayedJob&) = delete;

    const GraphOutline& outline_of(std::uint32_t rank) const {
        return *outlines[index(classes.class_of(RankId{rank}))];
    }

    Job job;
    std::uint32_t first_rank;
    RankClasses classes;  // of the ranks of the job
    std::deque<GraphOutline> graphs;
    std::vector<const GraphOutline*> outlines;  // by class
    IterationLog iterations;
    // Both null where every op takes its recorded time.
    std::unique_ptr<const JobOrder> order;
    std::unique_ptr<IssueOrder> issue_order;
};

// Where a rank stands in a group that it uses.
struct GroupMember {
    GroupId group{};
    std::uint32_t position = 0;
};

struct ReplayedRank {
    ReplayedRank(ReplayedJob& its_job, std::uint32_t rank, const StreamRules& rules);

    const ExecutionGraph& graph() const { return *outline->graph; }
    const GroupMember& group_of(const CollectiveDetail& detail) const {
        return groups[detail.group_role];
    }

    ReplayedJob* job;
    const RankTrace* trace;
    const GraphOutline* outline;  // of its class
    IterationLog* iterations;     // of the job; nullptr if its ops belong to none
    std::uint32_t number;         // in its job
    std::uint32_t fabric_rank;
    RankStreams streams;
    std::vector<GroupMember> groups;  // by group role
    RankActivity activity;
    SimTime finish;
    bool started = false;
};

}  // namespace astra
