#include "workload/replay/op_log.h"

#include <algorithm>

#include "workload/replay/replayed_job.h"

namespace astra {

std::vector<OpRecord> OpLog::records(const std::vector<ReplayedRank>& ranks) const {
    std::vector<OpRecord> records;
    records.reserve(ran_.size());
    for (const Ran& ran : ran_) {
        const ExecutionGraph& graph = ranks[ran.rank].graph();
        records.push_back({RankId{ranks[ran.rank].fabric_rank},
                           graph.node_id[ran.op],
                           graph.name_of(OpId{ran.op}),
                           name_of(graph.kind[ran.op]),
                           ran.start,
                           ran.end});
    }
    return records;
}

std::vector<std::vector<std::uint32_t>> OpLog::by_start(std::uint32_t ranks) const {
    std::vector<Ran> sorted = ran_;
    std::stable_sort(
        sorted.begin(), sorted.end(), [](const Ran& a, const Ran& b) { return a.start < b.start; });
    std::vector<std::vector<std::uint32_t>> ops(ranks);
    for (const Ran& ran : sorted) {
        ops[ran.rank].push_back(ran.op);
    }
    return ops;
}

}  // namespace astra
