#include "workload/training/unroll.h"

#include <algorithm>
#include <utility>

#include "astra/core/check.h"
#include "workload/graph/graph_edges.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostId = std::uint64_t{1} << 63U;
constexpr const char* kJoinName = "iteration_join";

bool is_wide(const Join& join) {
    return join.before.size() > 1 && join.after.size() > 1;
}

std::uint32_t count_wide(std::span<const Join> joins) {
    return static_cast<std::uint32_t>(std::count_if(joins.begin(), joins.end(), is_wide));
}

class JoinedGraph {
  public:
    JoinedGraph(const ExecutionGraph& graph, std::span<const Join> joins, std::uint32_t copies)
        : base_(graph), joins_(joins), copies_(copies) {
        stride_ = joined_size(graph, joins);
        ASTRA_CHECK(std::uint64_t{stride_} * copies < 0xffffffffU, "room for the ops");
        result_ = graph;  // tables and names; what there is an entry an op of is made anew
        result_.kind.clear();
        result_.on_cpu.clear();
        result_.node_id.clear();
        result_.duration_ps.clear();
        result_.detail.clear();
        result_.name.clear();
        result_.iteration.clear();
        result_.order.clear();
        result_.stream.clear();
        result_.collectives.clear();
        if (stride_ > base_.size()) {
            result_.names.emplace_back(kJoinName);
        }
    }

    ExecutionGraph make(bool crosses) {
        reserve();
        std::vector<Edge> edges;
        const std::vector<Edge> inner = edges_of(base_);
        for (std::uint32_t copy = 0; copy < copies_; ++copy) {
            add_ops(copy);
            const std::uint32_t first = copy * stride_;
            for (const Edge& edge : inner) {
                edges.push_back({first + edge.parent, first + edge.child});
            }
            if (!crosses || copy + 1 < copies_) {
                add_joins(first, first + (crosses ? stride_ : 0), edges);
            }
            if (crosses && copy + 1 < copies_) {
                go_on_streams(first, inner, edges);
            }
        }
        std::sort(edges.begin(), edges.end());
        edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
        set_edges(result_, std::move(edges));
        return std::move(result_);
    }

  private:
    void reserve() {
        const std::size_t ops = std::size_t{stride_} * copies_;
        result_.kind.reserve(ops);
        result_.on_cpu.reserve(ops);
        result_.node_id.reserve(ops);
        result_.duration_ps.reserve(ops);
        result_.detail.reserve(ops);
        result_.name.reserve(ops);
        result_.iteration.reserve(ops);
        result_.collectives.reserve(base_.collectives.size() * copies_);
    }

    std::uint64_t id_of(std::uint32_t copy, std::uint32_t op) const {
        const std::uint64_t span = base_.size() == 0 ? 0 : base_.node_id.back() + 1;
        const std::uint64_t stride = saturating_add(span, stride_ - base_.size());
        if (saturating_multiply(stride, copies_) > kMostId) {
            return std::uint64_t{copy} * stride_ + op;
        }
        return copy * stride + (op < base_.size() ? base_.node_id[op] : span + (op - base_.size()));
    }

    void add_ops(std::uint32_t copy) {
        const auto details = static_cast<std::uint32_t>(result_.collectives.size());
        for (std::uint32_t op = 0; op < stride_; ++op) {
            const bool is_join = op >= base_.size();
            result_.kind.push_back(is_join ? OpKind::Metadata : base_.kind[op]);
            result_.on_cpu.push_back(is_join ? std::uint8_t{0} : base_.on_cpu[op]);
            result_.node_id.push_back(id_of(copy, op));
            result_.duration_ps.push_back(is_join ? 0 : base_.duration_ps[op]);
            result_.name.push_back(is_join ? static_cast<std::uint32_t>(base_.names.size())
                                           : base_.name[op]);
            const bool collective = !is_join && base_.kind[op] == OpKind::Collective;
            result_.detail.push_back(is_join      ? 0
                                     : collective ? details + base_.detail[op]
                                                  : base_.detail[op]);
            result_.iteration.push_back(copy);
            if (!base_.stream.empty()) {
                result_.stream.push_back(is_join ? kNoStream : base_.stream[op]);
            }
        }
        for (CollectiveDetail detail : base_.collectives) {
            detail.iteration = copy;
            result_.collectives.push_back(detail);
        }
    }

    // Each stream goes on with its first op in the next copy when its last one in this has ended.
    void go_on_streams(std::uint32_t copy,
                       const std::vector<Edge>& inner,
                       std::vector<Edge>& edges) const {
        if (base_.stream.empty()) {
            return;
        }
        std::vector<std::uint8_t> has_next(base_.size(), 0);
        std::vector<std::uint8_t> has_previous(base_.size(), 0);
        for (const Edge& edge : inner) {
            if (base_.stream[edge.parent] == base_.stream[edge.child]) {
                has_next[edge.parent] = 1;
                has_previous[edge.child] = 1;
            }
        }
        std::vector<Edge> ends(base_.streams.size());
        for (std::uint32_t op = 0; op < base_.size(); ++op) {
            if (!base_.in_named_stream(op)) {
                continue;
            }
            Edge& end = ends[base_.stream[op]];
            end.parent = has_next[op] == 0 ? copy + op : end.parent;
            end.child = has_previous[op] == 0 ? copy + stride_ + op : end.child;
        }
        for (std::size_t stream = 0; stream < ends.size(); ++stream) {
            if (ends[stream].child != 0) {
                edges.push_back(ends[stream]);
            }
        }
    }

    void add_joins(std::uint32_t before, std::uint32_t after, std::vector<Edge>& edges) const {
        std::uint32_t op = before + base_.size();
        for (const Join& join : joins_) {
            if (is_wide(join)) {
                for (const std::uint32_t from : join.before) {
                    edges.push_back({before + from, op});
                }
                for (const std::uint32_t to : join.after) {
                    edges.push_back({op, after + to});
                }
                ++op;
                continue;
            }
            for (const std::uint32_t from : join.before) {
                for (const std::uint32_t to : join.after) {
                    edges.push_back({before + from, after + to});
                }
            }
        }
    }

    const ExecutionGraph& base_;
    std::span<const Join> joins_;
    std::uint32_t copies_;
    std::uint32_t stride_ = 0;
    ExecutionGraph result_;
};

using OpsByIteration = std::vector<std::vector<std::uint32_t>>;

// Ops without a parent in their iteration.
OpsByIteration sources_of(const Dependencies& dependencies, const TrainingStructure& structure) {
    const auto& of_op = structure.iterations.of_op;
    OpsByIteration sources(structure.iterations.count);
    for (std::uint32_t op = 0; op < of_op.size(); ++op) {
        const auto parents = dependencies.parents(op);
        if (std::none_of(parents.begin(), parents.end(), [&](std::uint32_t parent) {
                return of_op[parent] == of_op[op];
            })) {
            sources[of_op[op]].push_back(op);
        }
    }
    return sources;
}

// All ops, or only those that wait for no transfer, without a child among them in their iteration.
OpsByIteration sinks_of(const Dependencies& dependencies,
                        const TrainingStructure& structure,
                        bool all) {
    const auto& of_op = structure.iterations.of_op;
    const auto counts = [&](std::uint32_t op) { return all || structure.follows[op] == 0; };
    OpsByIteration sinks(structure.iterations.count);
    for (std::uint32_t op = 0; op < of_op.size(); ++op) {
        const auto children = dependencies.children(op);
        if (counts(op) && std::none_of(children.begin(), children.end(), [&](std::uint32_t child) {
                return of_op[child] == of_op[op] && counts(child);
            })) {
            sinks[of_op[op]].push_back(op);
        }
    }
    return sinks;
}

}  // namespace

std::vector<Join> joins_of(const ExecutionGraph& graph,
                           const Dependencies& dependencies,
                           const TrainingStructure& structure,
                           IterationStart start,
                           const std::string& barrier) {
    const std::uint32_t count = structure.iterations.count;
    const bool alone = count == 1;
    const bool all = start == IterationStart::AfterAll;
    OpsByIteration sources = sources_of(dependencies, structure);
    OpsByIteration sinks = sinks_of(dependencies, structure, all);
    std::vector<Join> joins;
    for (std::uint32_t iteration = 0; iteration + (alone ? 0 : 1) < count; ++iteration) {
        joins.push_back(
            {std::move(sinks[iteration]), std::move(sources[iteration + (alone ? 0 : 1)])});
    }
    const std::size_t starts = joins.size();
    for (std::uint32_t op = 0; op < graph.size() && !barrier.empty(); ++op) {
        const std::uint32_t iteration = structure.iterations.of_op[op];
        if (iteration < starts && graph.name_of(OpId{op}) == barrier) {
            joins[iteration].before.push_back(op);
        }
    }
    for (const ParameterUpdate& update : structure.updates) {
        if (all || update.iteration >= starts || update.recorded) {
            continue;
        }
        if (update.reader_unknown) {
            auto& before = joins[update.iteration].before;
            before.insert(before.end(), update.last.begin(), update.last.end());
        } else {
            joins.push_back({update.last, update.readers});
        }
    }
    return joins;
}

std::uint32_t joined_size(const ExecutionGraph& graph, std::span<const Join> joins) {
    return graph.size() + count_wide(joins);
}

ExecutionGraph unroll(const ExecutionGraph& graph,
                      std::span<const Join> joins,
                      std::uint32_t copies) {
    return JoinedGraph(graph, joins, copies).make(true);
}

ExecutionGraph join(const ExecutionGraph& graph,
                    std::span<const Join> joins,
                    const std::vector<std::uint32_t>& iteration) {
    ExecutionGraph result = JoinedGraph(graph, joins, 1).make(false);
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        result.iteration[op] = iteration[op];
        if (graph.kind[op] == OpKind::Collective) {
            result.collectives[graph.detail[op]].iteration = iteration[op];
        }
    }
    std::uint32_t op = graph.size();
    for (const Join& join : joins) {
        if (is_wide(join)) {
            result.iteration[op++] = iteration[join.before.front()];
        }
    }
    return result;
}

}  // namespace astra
