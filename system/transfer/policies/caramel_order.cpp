#include "system/transfer/policies/caramel_order.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace astra {

namespace {

// Where an op stands among those of an iteration.
struct Standing {
    std::int64_t slack_ps = 0;
    std::uint32_t op = 0;
    std::uint32_t behind = 1;  // 0: right before `op`
};

std::vector<std::uint32_t> ranks_of(const std::vector<Standing>& standing) {
    std::vector<std::uint32_t> sorted(standing.size());
    std::iota(sorted.begin(), sorted.end(), 0U);
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::tie(standing[a].slack_ps, standing[a].op, standing[a].behind) <
               std::tie(standing[b].slack_ps, standing[b].op, standing[b].behind);
    });
    std::vector<std::uint32_t> rank(standing.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) {
        rank[sorted[i]] = i;
    }
    return rank;
}

}  // namespace

std::vector<std::uint32_t> tightest_first(const ComputeGraph& graph) {
    std::vector<std::int64_t> least(graph.size(), ComputeGraph::kNoSlack);
    for (const ComputeGraph::Transfer& transfer : graph.transfers) {
        least[transfer.op] = transfer.slack_ps;
    }
    for (auto op = graph.sorted.rbegin(); op != graph.sorted.rend(); ++op) {
        for (const std::uint32_t child : graph.children(*op)) {
            if (graph.iteration[child] == graph.iteration[*op]) {
                least[*op] = std::min(least[*op], least[child]);
            }
        }
    }
    std::vector<Standing> standing(graph.size());
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        standing[op] = {least[op], op, 1};
        if (graph.follows[op] != 0) {
            const std::uint32_t reader = graph.first_reader[op];
            standing[op] = reader == ComputeGraph::kNone
                               ? Standing{std::numeric_limits<std::int64_t>::min(), op, 0}
                               : Standing{least[reader], reader, 0};
        }
    }
    return ranks_of(standing);
}

}  // namespace astra
