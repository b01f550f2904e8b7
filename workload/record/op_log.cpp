#include "workload/record/op_log.h"

#include <algorithm>

namespace astra {

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
