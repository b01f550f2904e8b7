#include "workload/graph/graph_edges.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace astra {
namespace {

constexpr std::size_t kMostDropped = 10;
constexpr std::uint32_t kAbsent = 0xffffffffU;

// Ids are mostly dense, so the index that a dense numbering would give is tried first.
std::uint32_t find_op(const std::vector<std::uint64_t>& ids, std::uint32_t near, std::uint64_t id) {
    const std::uint64_t guess = near + (id - ids[near]);
    if (guess < ids.size() && ids[guess] == id) {
        return static_cast<std::uint32_t>(guess);
    }
    const auto found = std::lower_bound(ids.begin(), ids.end(), id);
    if (found == ids.end() || *found != id) {
        return kAbsent;
    }
    return static_cast<std::uint32_t>(found - ids.begin());
}

// The known parents of all nodes, one after the other in the order of the list.
std::vector<std::uint32_t> resolve(ExecutionGraph& graph,
                                   const ParentList& parents,
                                   const std::vector<std::uint32_t>& new_index,
                                   EdgeReport& report) {
    std::vector<std::uint32_t> edges;
    edges.reserve(parents.count());
    ParentList::Reader reader(parents);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        const std::uint32_t op = new_index.empty() ? i : new_index[i];
        const std::uint32_t listed = graph.parent_count[op];
        for (std::uint32_t k = 0; k < listed; ++k) {
            const std::uint64_t id = reader.next(graph.node_id[op]);
            const std::uint32_t parent = find_op(graph.node_id, op, id);
            if (parent == kAbsent) {
                ++report.dropped;
                --graph.parent_count[op];
                if (report.first_dropped.size() < kMostDropped &&
                    std::find(report.first_dropped.begin(), report.first_dropped.end(), id) ==
                        report.first_dropped.end()) {
                    report.first_dropped.push_back(id);
                }
                continue;
            }
            report.forward_only = report.forward_only && parent < op;
            edges.push_back(parent);
        }
    }
    return edges;
}

}  // namespace

EdgeReport link_parents(ExecutionGraph& graph,
                        ParentList parents,
                        const std::vector<std::uint32_t>& new_index) {
    EdgeReport report;
    if (parents.count() >= kAbsent) {
        report.too_many = true;
        return report;
    }
    const std::vector<std::uint32_t> edges = resolve(graph, parents, new_index, report);
    parents = {};

    // Counting sort by parent: child_begin[p + 1] first counts, then is the index of the next
    // child.
    std::vector<std::uint32_t>& begin = graph.child_begin;
    begin.assign(graph.size() + std::size_t{1}, 0);
    for (const std::uint32_t parent : edges) {
        ++begin[parent + std::size_t{1}];
    }
    std::uint32_t sum = 0;
    for (std::size_t p = 1; p < begin.size(); ++p) {
        sum += std::exchange(begin[p], sum);
    }
    graph.child.resize(edges.size());
    std::size_t edge = 0;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        const std::uint32_t op = new_index.empty() ? i : new_index[i];
        for (std::uint32_t k = 0; k < graph.parent_count[op]; ++k) {
            graph.child[begin[edges[edge++] + std::size_t{1}]++] = op;
        }
    }
    if (!new_index.empty()) {
        for (std::uint32_t i = 0; i < graph.size(); ++i) {
            std::sort(graph.child.begin() + begin[i],
                      graph.child.begin() + begin[i + std::size_t{1}]);
        }
    }
    return report;
}

void set_edges(ExecutionGraph& graph, std::vector<Edge> edges) {
    if (!std::is_sorted(edges.begin(), edges.end())) {
        std::sort(edges.begin(), edges.end());
    }
    graph.parent_count.assign(graph.size(), 0);
    graph.child_begin.assign(graph.size() + 1, 0);
    graph.child.clear();
    graph.child.reserve(edges.size());
    for (const Edge& edge : edges) {
        ++graph.child_begin[edge.parent + 1];
        ++graph.parent_count[edge.child];
        graph.child.push_back(edge.child);
    }
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        graph.child_begin[op + 1] += graph.child_begin[op];
    }
}

std::vector<Edge> edges_of(const ExecutionGraph& graph) {
    std::vector<Edge> edges;
    edges.reserve(graph.child.size());
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        for (std::uint32_t i = graph.child_begin[op]; i < graph.child_begin[op + 1]; ++i) {
            edges.push_back({op, graph.child[i]});
        }
    }
    return edges;
}

bool has_edge(const ExecutionGraph& graph, Edge edge) {
    return std::binary_search(graph.child.begin() + graph.child_begin[edge.parent],
                              graph.child.begin() + graph.child_begin[edge.parent + 1],
                              edge.child);
}

std::vector<std::uint32_t> find_cycle(const ExecutionGraph& graph) {
    std::vector<std::uint32_t> waiting = graph.parent_count;
    std::vector<std::uint32_t> ready;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        if (waiting[i] == 0) {
            ready.push_back(i);
        }
    }
    std::uint32_t done = 0;
    while (!ready.empty()) {
        const std::uint32_t op = ready.back();
        ready.pop_back();
        ++done;
        for (std::uint32_t c = graph.child_begin[op]; c < graph.child_begin[op + 1]; ++c) {
            if (--waiting[graph.child[c]] == 0) {
                ready.push_back(graph.child[c]);
            }
        }
    }
    if (done == graph.size()) {
        return {};
    }
    // Every op left has a parent that is left: going back from one must come to a cycle.
    std::vector<std::uint32_t> parent_of(graph.size(), kAbsent);
    std::uint32_t op = 0;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        if (waiting[i] == 0) {
            continue;
        }
        op = i;
        for (std::uint32_t c = graph.child_begin[i]; c < graph.child_begin[i + 1]; ++c) {
            parent_of[graph.child[c]] = i;
        }
    }
    std::vector<bool> seen(graph.size());
    while (!seen[op]) {
        seen[op] = true;
        op = parent_of[op];
    }
    std::vector<std::uint32_t> cycle = {op};
    for (std::uint32_t at = parent_of[op]; at != op; at = parent_of[at]) {
        cycle.push_back(at);
    }
    std::reverse(cycle.begin(), cycle.end());
    return cycle;
}

}  // namespace astra
