#include "workload/record/op_times.h"

#include <algorithm>

namespace astra {

void OpTimes::on_span(const Span& span) {
    if (span.kind != SpanKind::Op) {
        return;
    }
    const std::size_t rank = index(span.rank);
    if (rank >= ran_.size()) {
        ran_.resize(rank + 1);
    }
    ran_[rank].push_back({span.op, span.begin});
}

std::vector<SimTime> OpTimes::starts(RankId rank, std::uint32_t ops) const {
    std::vector<SimTime> starts(ops);
    if (index(rank) < ran_.size()) {
        for (const Ran& ran : ran_[index(rank)]) {
            starts[ran.op] = ran.start;
        }
    }
    return starts;
}

std::vector<std::uint32_t> OpTimes::by_start(RankId rank) const {
    std::vector<std::uint32_t> ops;
    if (index(rank) < ran_.size()) {
        std::vector<Ran> sorted = ran_[index(rank)];
        std::stable_sort(sorted.begin(), sorted.end(), [](const Ran& a, const Ran& b) {
            return a.start < b.start;
        });
        for (const Ran& ran : sorted) {
            ops.push_back(ran.op);
        }
    }
    return ops;
}

}  // namespace astra
