#include "workload/training/compute_order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

namespace astra {

namespace {

constexpr std::int64_t kLeadsNowhere = std::numeric_limits<std::int64_t>::max();

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

std::uint64_t free_updates(ExecutionGraph& graph, const TrainingStructure& structure) {
    const auto meaning = [&](std::uint32_t op) -> const NameMeaning& {
        return structure.meanings[graph.name[op]];
    };
    std::map<std::pair<std::string, std::uint32_t>, std::vector<std::uint32_t>> reduced;
    std::vector<std::uint8_t> is_transfer(graph.size(), 0);
    for (const GradientTransfer& transfer : structure.transfers) {
        is_transfer[transfer.op] = 1;
        if (!transfer.parameter.empty()) {
            reduced[{transfer.parameter, transfer.iteration}].push_back(transfer.op);
        }
    }
    const auto& of_op = structure.iterations.of_op;
    const auto own = [&](std::uint32_t op) {
        const bool update =
            meaning(op).role == TrainingRole::Update && !meaning(op).parameter.empty();
        return update ? reduced.find({meaning(op).parameter, of_op[op]}) : reduced.end();
    };
    std::vector<Edge> kept;
    std::vector<std::uint8_t> lost(graph.size(), 0);
    std::uint64_t gone = 0;
    for (const Edge& edge : edges_of(graph)) {
        const NameMeaning& from = meaning(edge.parent);
        const bool orders = (from.role == TrainingRole::Update || is_transfer[edge.parent] != 0 ||
                             from.role == TrainingRole::Backward) &&
                            from.parameter != meaning(edge.child).parameter &&
                            of_op[edge.parent] == of_op[edge.child];
        if (orders && own(edge.child) != reduced.end()) {
            lost[edge.child] = 1;
            ++gone;
        } else {
            kept.push_back(edge);
        }
    }
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        if (lost[op] != 0) {
            for (const std::uint32_t transfer : own(op)->second) {
                kept.push_back({transfer, op});
            }
        }
    }
    if (gone > 0) {
        std::sort(kept.begin(), kept.end());
        kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
        set_edges(graph, std::move(kept));
    }
    return gone;
}

std::vector<std::uint32_t> tightest_first(const ExecutionGraph& graph,
                                          const Dependencies& dependencies,
                                          const TrainingStructure& structure,
                                          const std::vector<std::int64_t>& slack_ps) {
    std::vector<std::int64_t> least(graph.size(), kLeadsNowhere);
    for (std::size_t i = 0; i < structure.transfers.size(); ++i) {
        least[structure.transfers[i].op] = slack_ps[i];
    }
    const auto& of_op = structure.iterations.of_op;
    const auto& sorted = dependencies.sorted();
    for (auto op = sorted.rbegin(); op != sorted.rend(); ++op) {
        for (const std::uint32_t child : dependencies.children(*op)) {
            if (of_op[child] == of_op[*op]) {
                least[*op] = std::min(least[*op], least[child]);
            }
        }
    }
    std::vector<Standing> standing(graph.size());
    std::vector<std::uint32_t> first_reader(graph.size(), kNoReader);
    for (const ParameterUpdate& update : structure.updates) {
        for (const std::uint32_t last : update.last) {
            if (!update.reader_unknown && !update.readers.empty()) {
                first_reader[last] = update.readers.front();
            }
        }
    }
    for (auto op = sorted.rbegin(); op != sorted.rend(); ++op) {
        for (const std::uint32_t child : dependencies.children(*op)) {
            if (structure.follows[*op] != 0 && of_op[child] == of_op[*op]) {
                first_reader[*op] = std::min(first_reader[*op], first_reader[child]);
            }
        }
    }
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        standing[op] = {least[op], op, 1};
        if (structure.follows[op] != 0) {
            const std::uint32_t reader = first_reader[op];
            standing[op] = reader == kNoReader
                               ? Standing{std::numeric_limits<std::int64_t>::min(), op, 0}
                               : Standing{least[reader], reader, 0};
        }
    }
    return ranks_of(standing);
}

std::vector<std::uint32_t> order_of_copies(const std::vector<std::uint32_t>& order,
                                           const TrainingStructure& structure,
                                           std::uint32_t stride,
                                           std::uint32_t size) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> place(size);  // iteration, rank in it
    for (std::uint32_t op = 0; op < size; ++op) {
        const std::uint32_t copy = op / stride;
        const std::uint32_t base = op % stride;
        // Joins take no time: at once.
        place[op] =
            base >= order.size()
                ? std::pair{copy, 0U}
                : std::pair{copy + structure.iterations.of_op[base] + structure.follows[base],
                            order[base] + 1};
    }
    std::vector<std::uint32_t> sorted(size);
    std::iota(sorted.begin(), sorted.end(), 0U);
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
        return place[a] < place[b];
    });
    std::vector<std::uint32_t> result(size);
    for (std::uint32_t i = 0; i < size; ++i) {
        result[sorted[i]] = i;
    }
    return result;
}

Duration expected_iteration(const GroupForecast& forecast, const std::vector<Duration>& cost) {
    using Waiting = std::pair<std::uint64_t, std::size_t>;  // end boundary, transfer
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting;
    std::uint64_t now_ps = 0;
    std::uint64_t late_ps = 0;
    std::uint64_t all_ps = 0;
    std::size_t next = 0;
    const auto& transfers = forecast.transfers;
    while (next < transfers.size() || !waiting.empty()) {
        if (waiting.empty()) {
            now_ps = std::max(now_ps, transfers[next].ready.ps);
        }
        while (next < transfers.size() && transfers[next].ready.ps <= now_ps) {
            waiting.emplace(transfers[next].needed.ps, next);
            ++next;
        }
        const auto [needed_ps, transfer] = waiting.top();
        waiting.pop();
        now_ps = saturating_add(now_ps, cost[transfer].ps);
        all_ps = saturating_add(all_ps, cost[transfer].ps);
        late_ps = std::max(late_ps, now_ps > needed_ps ? now_ps - needed_ps : 0);
    }
    return {std::max(saturating_add(forecast.iteration.ps, late_ps), all_ps)};
}

}  // namespace astra
