#include "workload/replay/replayed_job.h"

#include <unordered_map>

#include "astra/core/check.h"
#include "workload/graph/symmetry.h"
#include "workload/replay/issue_order.h"

namespace astra {

GraphOutline::GraphOutline(const ExecutionGraph& of) : graph(&of) {
    for (std::uint32_t op = 0; op < of.size(); ++op) {
        if (of.parent_count[op] == 0) {
            first_ops.push_back(op);
        }
        switch (of.kind[op]) {
            case OpKind::Collective:
                collectives.push_back(op);
                ++communication_ops;
                break;
            case OpKind::Send:
            case OpKind::Recv:
                ++communication_ops;
                break;
            case OpKind::MemoryLoad:
            case OpKind::MemoryStore:
                memory_access = memory_access == kNoOp ? op : memory_access;
                break;
            default:
                break;
        }
    }
}

ReplayedJob::ReplayedJob(Job added, std::uint32_t first)
    : job(std::move(added)),
      first_rank(first),
      classes(classes_of(job.workload)),
      iterations(static_cast<std::uint32_t>(job.workload.ranks.size()), job.workload.iterations) {
    ASTRA_CHECK(job.workload.ranks.size() == job.fabric_ranks.size(),
                "a job has a trace for each of its ranks");
    std::unordered_map<const ExecutionGraph*, const GraphOutline*> known;
    for (std::uint32_t c = 0; c < classes.classes(); ++c) {
        const RankId representative = classes.representative(RankClassId{c});
        const ExecutionGraph* graph = job.workload.ranks[index(representative)].graph.get();
        const auto [entry, is_new] = known.try_emplace(graph, nullptr);
        if (is_new) {
            entry->second = &graphs.emplace_back(*graph);
        }
        outlines.push_back(entry->second);
    }
}

ReplayedJob::~ReplayedJob() = default;

ReplayedRank::ReplayedRank(ReplayedJob& its_job, std::uint32_t rank, const StreamRules& rules)
    : job(&its_job),
      trace(&its_job.job.workload.ranks[rank]),
      outline(&its_job.outline_of(rank)),
      iterations(outline->graph->iteration.empty() ? nullptr : &its_job.iterations),
      number(rank),
      fabric_rank(its_job.job.fabric_ranks[rank]),
      streams(*outline->graph, rules) {}

}  // namespace astra
