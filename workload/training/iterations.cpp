#include "workload/training/iterations.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "astra/core/text/nearest.h"
#include "workload/graph/messages.h"

namespace astra {

namespace {

constexpr std::size_t kMostCompared = 5000;

// Later iterations than the marks say, where a parent is in a later one.
void follow_parents(const Dependencies& dependencies, std::vector<std::uint32_t>& of_op) {
    for (const std::uint32_t op : dependencies.sorted()) {
        for (const std::uint32_t child : dependencies.children(op)) {
            of_op[child] = std::max(of_op[child], of_op[op]);
        }
    }
}

[[noreturn]] void refuse_barrier(const ExecutionGraph& graph,
                                 const std::string& barrier,
                                 const std::string& file) {
    const std::size_t most = std::min(graph.names.size(), kMostCompared);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < most; ++i) {
        names.push_back(printable(graph.names[i]));
    }
    throw TraceError(fmt::format("{}: no op is called '{}', which is to end an iteration{}",
                                 file,
                                 printable(barrier),
                                 suggestion(barrier, names)));
}

TraceIterations by_barrier(const ExecutionGraph& graph,
                           const Dependencies& dependencies,
                           const std::string& barrier) {
    TraceIterations result;
    std::uint32_t ended = 0;
    bool transfers_since = false;
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        result.of_op.push_back(ended);
        transfers_since = transfers_since || may_be_transfer(graph, op);
        if (graph.name_of(OpId{op}) == barrier) {
            ++ended;
            transfers_since = false;
        }
    }
    follow_parents(dependencies, result.of_op);
    result.count = ended + (transfers_since && ended > 0 ? 1 : 0);
    for (std::uint32_t& iteration : result.of_op) {
        iteration = std::min(iteration, result.count - 1);
    }
    result.how = fmt::format("each ends with the op '{}'", printable(barrier));
    return result;
}

TraceIterations by_markers(const ExecutionGraph& graph,
                           const Dependencies& dependencies,
                           const std::vector<TrainingRole>& roles) {
    TraceIterations result;
    std::unordered_map<std::uint32_t, std::uint32_t> numbers;
    std::uint32_t current = 0;
    std::string first;
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        if (roles[graph.name[op]] == TrainingRole::Iteration) {
            first = first.empty() ? printable(graph.name_of(OpId{op})) : first;
            current =
                numbers.try_emplace(graph.name[op], static_cast<std::uint32_t>(numbers.size()))
                    .first->second;
        }
        result.of_op.push_back(current);
    }
    follow_parents(dependencies, result.of_op);
    result.count = static_cast<std::uint32_t>(numbers.size());
    result.how = fmt::format("each begins with an op like '{}'", first);
    return result;
}

// The shortest length of which the sequence of ops is a repetition: Knuth, Morris, Pratt, "Fast
// pattern matching in strings" (1977), section 3 (the failure function).
std::uint32_t shortest_period(const ExecutionGraph& graph) {
    const auto same = [&](std::uint32_t a, std::uint32_t b) {
        if (graph.kind[a] != graph.kind[b] || graph.name[a] != graph.name[b]) {
            return false;
        }
        return graph.kind[a] != OpKind::Collective ||
               graph.collectives[graph.detail[a]].bytes == graph.collectives[graph.detail[b]].bytes;
    };
    std::vector<std::uint32_t> border(graph.size() + 1, 0);
    std::uint32_t length = 0;
    for (std::uint32_t i = 1; i < graph.size(); ++i) {
        while (length > 0 && !same(i, length)) {
            length = border[length];
        }
        length += same(i, length) ? 1 : 0;
        border[i + 1] = length;
    }
    const std::uint32_t period = graph.size() - border[graph.size()];
    return graph.size() % period == 0 ? period : graph.size();
}

TraceIterations by_repetition(const ExecutionGraph& graph, const Dependencies& dependencies) {
    TraceIterations result;
    result.how = "no op marks one and the trace does not repeat itself: all is one iteration";
    result.of_op.assign(graph.size(), 0);
    const std::uint32_t period = graph.size() == 0 ? 0 : shortest_period(graph);
    bool transfers = false;
    bool computes = false;
    for (std::uint32_t op = 0; op < period; ++op) {
        transfers = transfers || may_be_transfer(graph, op);
        computes = computes || graph.kind[op] == OpKind::Compute;
    }
    if (period == graph.size() || !transfers || !computes) {
        return result;
    }
    std::vector<std::uint32_t> of_op(graph.size());
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        of_op[op] = op / period;
    }
    std::vector<std::uint32_t> raised = of_op;
    follow_parents(dependencies, raised);
    if (raised == of_op) {
        result.of_op = std::move(of_op);
        result.count = graph.size() / period;
        result.how = fmt::format("the same {} ops are repeated", period);
    }
    return result;
}

}  // namespace

bool may_be_transfer(const ExecutionGraph& graph, std::uint32_t op) {
    if (graph.kind[op] != OpKind::Collective) {
        return false;
    }
    const CollectiveKind kind = graph.collectives[graph.detail[op]].kind;
    return kind == CollectiveKind::AllReduce || kind == CollectiveKind::ReduceScatter ||
           kind == CollectiveKind::ReduceScatterBlock;
}

TraceIterations find_iterations(const ExecutionGraph& graph,
                                const Dependencies& dependencies,
                                const std::vector<TrainingRole>& roles,
                                const std::string& barrier,
                                const std::string& file) {
    if (!barrier.empty()) {
        if (std::find(graph.names.begin(), graph.names.end(), barrier) == graph.names.end()) {
            refuse_barrier(graph, barrier, file);
        }
        return by_barrier(graph, dependencies, barrier);
    }
    if (std::find(roles.begin(), roles.end(), TrainingRole::Iteration) != roles.end()) {
        return by_markers(graph, dependencies, roles);
    }
    return by_repetition(graph, dependencies);
}

}  // namespace astra
