#include "workload/training/compute_order.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <queue>
#include <string>
#include <utility>

#include "workload/graph/graph_edges.h"

namespace astra {

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
    const auto transfers_of = [&](std::uint32_t op) {
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
        if (orders && transfers_of(edge.child) != reduced.end()) {
            lost[edge.child] = 1;
            ++gone;
        } else {
            kept.push_back(edge);
        }
    }
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        if (lost[op] != 0) {
            for (const std::uint32_t transfer : transfers_of(op)->second) {
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

ComputeGraph compute_graph(const ExecutionGraph& graph,
                           const Dependencies& dependencies,
                           const TrainingStructure& structure,
                           const std::vector<std::int64_t>& slack_ps) {
    ComputeGraph seen;
    seen.child_begin = graph.child_begin;
    seen.child = graph.child;
    seen.sorted = dependencies.sorted();
    seen.iteration = structure.iterations.of_op;
    seen.follows = structure.follows;
    for (std::size_t i = 0; i < structure.transfers.size(); ++i) {
        seen.transfers.push_back({structure.transfers[i].op, slack_ps[i]});
    }
    auto& first_reader = seen.first_reader;
    first_reader.assign(graph.size(), ComputeGraph::kNone);
    for (const ParameterUpdate& update : structure.updates) {
        for (const std::uint32_t last : update.last) {
            if (!update.reader_unknown && !update.readers.empty()) {
                first_reader[last] = update.readers.front();
            }
        }
    }
    for (auto op = seen.sorted.rbegin(); op != seen.sorted.rend(); ++op) {
        for (const std::uint32_t child : seen.children(*op)) {
            if (seen.follows[*op] != 0 && seen.iteration[child] == seen.iteration[*op]) {
                first_reader[*op] = std::min(first_reader[*op], first_reader[child]);
            }
        }
    }
    return seen;
}

std::vector<std::uint32_t> order_of_copies(const std::vector<std::uint32_t>& order,
                                           const TrainingStructure& structure,
                                           std::uint32_t stride,
                                           std::uint32_t size) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> standing(size);  // iteration, rank in it
    for (std::uint32_t op = 0; op < size; ++op) {
        const std::uint32_t copy = op / stride;
        const std::uint32_t base = op % stride;
        // Joins take no time: at once.
        standing[op] =
            base >= order.size()
                ? std::pair{copy, 0U}
                : std::pair{copy + structure.iterations.of_op[base] + structure.follows[base],
                            order[base] + 1};
    }
    std::vector<std::uint32_t> sorted(size);
    std::iota(sorted.begin(), sorted.end(), 0U);
    std::stable_sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
        return standing[a] < standing[b];
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
