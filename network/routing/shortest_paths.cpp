#include "network/routing/shortest_paths.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/strong_components.hpp>

namespace astra {

namespace {

using Digraph = boost::compressed_sparse_row_graph<boost::directedS>;

// A filter of the reversed graph: leaves out the links out of nodes that do not forward, so that
// they are only ends.
struct Forwarded {
    const Digraph* graph = nullptr;
    const std::vector<bool>* forwards = nullptr;
    std::uint32_t target = 0;
    bool operator()(const Digraph::edge_descriptor& edge) const {
        const auto node = boost::source(edge, *graph);
        return node == target || (*forwards)[node];
    }
};

}  // namespace

struct ShortestPaths::Reversed {
    Digraph graph;
};

void ShortestPaths::Graph::add(LinkEnds ends, std::uint32_t weight) {
    if (weight != 1 || !weights.empty()) {
        weights.resize(links.size(), 1);
        weights.push_back(weight);
    }
    links.push_back(ends);
}

ShortestPaths::Graph graph_of(const Dimension& dimension) {
    ShortestPaths::Graph graph;
    graph.ports = dimension.ports();
    graph.forwards.assign(dimension.ports(), dimension.ports_forward());
    graph.forwards.resize(std::size_t{dimension.ports()} + dimension.switches(), true);
    for (std::uint32_t link = 0; link < dimension.links(); ++link) {
        graph.add(dimension.ends(link), dimension.weight(link));
    }
    return graph;
}

ShortestPaths::ShortestPaths(Graph graph) : graph_(std::move(graph)) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (std::uint32_t link = 0; link < graph_.links.size(); ++link) {
        if (is_up(link)) {
            edges.emplace_back(graph_.links[link].to, graph_.links[link].from);
        }
    }
    reversed_ = std::make_unique<const Reversed>(Reversed{
        Digraph(boost::edges_are_unsorted, edges.begin(), edges.end(), graph_.forwards.size())});
    index_links();
    find_exits();
    tables_.resize(graph_.forwards.size());
    latest_.resize(rows_);
}

ShortestPaths::~ShortestPaths() = default;

void ShortestPaths::index_links() {
    const std::size_t nodes = graph_.forwards.size();
    out_begin_.assign(nodes + 1, 0);
    for (std::uint32_t link = 0; link < graph_.links.size(); ++link) {
        out_begin_[graph_.links[link].from + 1] += is_up(link) ? 1 : 0;
    }
    for (std::size_t node = 0; node < nodes; ++node) {
        out_begin_[node + 1] += out_begin_[node];
    }
    out_links_.resize(out_begin_[nodes]);
    std::vector<std::uint32_t> filled(out_begin_.begin(), out_begin_.end() - 1);
    for (std::uint32_t link = 0; link < graph_.links.size(); ++link) {
        if (is_up(link)) {
            out_links_[filled[graph_.links[link].from]++] = link;
        }
    }
    if (!graph_.weights.empty()) {
        in_begin_.assign(nodes + 1, 0);
        for (const std::uint32_t link : out_links_) {
            ++in_begin_[graph_.links[link].to + 1];
        }
        std::partial_sum(in_begin_.begin(), in_begin_.end(), in_begin_.begin());
        in_links_.resize(out_links_.size());
        filled.assign(in_begin_.begin(), in_begin_.end() - 1);
        for (const std::uint32_t link : out_links_) {
            in_links_[filled[graph_.links[link].to]++] = link;
        }
    }
    row_.assign(nodes, kNone);
    for (std::size_t node = 0; node < nodes; ++node) {
        if (graph_.forwards[node] || out_begin_[node + 1] - out_begin_[node] != 1) {
            row_[node] = rows_++;
        }
    }
}

void ShortestPaths::find_exits() {
    std::vector<std::uint32_t> in_links(graph_.ports, 0);
    last_link_.assign(graph_.ports, kNone);
    for (const std::uint32_t link : out_links_) {
        const std::uint32_t to = graph_.links[link].to;
        if (to < graph_.ports) {
            ++in_links[to];
            last_link_[to] = link;
        }
    }
    exit_.resize(graph_.ports);
    for (std::uint32_t port = 0; port < graph_.ports; ++port) {
        exit_[port] = port;
        if (in_links[port] == 1 && graph_.forwards[graph_.links[last_link_[port]].from]) {
            exit_[port] = graph_.links[last_link_[port]].from;
        }
    }
}

// Dijkstra over the links backwards.
std::vector<std::uint32_t> ShortestPaths::weighted_distances_to(std::uint32_t port) const {
    std::vector<std::uint32_t> distances(graph_.forwards.size(), kFar);
    using Reached = std::pair<std::uint32_t, std::uint32_t>;  // distance, node
    std::priority_queue<Reached, std::vector<Reached>, std::greater<>> waiting;
    distances[port] = 0;
    waiting.emplace(0, port);
    while (!waiting.empty()) {
        const auto [distance, node] = waiting.top();
        waiting.pop();
        if (distance != distances[node] || (node != port && !graph_.forwards[node])) {
            continue;
        }
        for (std::uint32_t i = in_begin_[node]; i < in_begin_[node + 1]; ++i) {
            const std::uint32_t from = graph_.links[in_links_[i]].from;
            const std::uint32_t longer = distance + weight(in_links_[i]);
            if (longer < distances[from]) {
                distances[from] = longer;
                waiting.emplace(longer, from);
            }
        }
    }
    return distances;
}

std::vector<std::uint32_t> ShortestPaths::distances_to(std::uint32_t port) const {
    if (!graph_.weights.empty()) {
        return weighted_distances_to(port);
    }
    const Digraph& graph = reversed_->graph;
    const boost::filtered_graph usable(graph, Forwarded{&graph, &graph_.forwards, port});
    std::vector<std::uint32_t> distances(graph_.forwards.size(), kFar);
    distances[port] = 0;
    std::vector<boost::default_color_type> colours(distances.size(), boost::white_color);
    boost::queue<Digraph::vertex_descriptor> waiting;
    boost::breadth_first_visit(
        usable,
        Digraph::vertex_descriptor{port},
        waiting,
        boost::make_bfs_visitor(boost::record_distances(distances.data(), boost::on_tree_edge())),
        colours.data());
    return distances;
}

void ShortestPaths::make_table(std::uint32_t target) {
    const std::vector<std::uint32_t> distances = distances_to(target);
    std::vector<Range>& table = tables_[target];
    table.resize(rows_);
    for (std::uint32_t node = 0; node < distances.size(); ++node) {
        const std::uint32_t row = row_[node];
        if (row == kNone || distances[node] == kFar || node == target) {
            continue;
        }
        Range set{static_cast<std::uint32_t>(sets_.size()), 0};
        for (std::uint32_t i = out_begin_[node]; i < out_begin_[node + 1]; ++i) {
            const std::uint32_t to = graph_.links[out_links_[i]].to;
            if (distances[to] != kFar && distances[to] + weight(out_links_[i]) == distances[node] &&
                (to == target || graph_.forwards[to])) {
                sets_.push_back(out_links_[i]);
                ++set.count;
            }
        }
        const Range latest = latest_[row];
        if (latest.count == set.count &&
            std::equal(sets_.begin() + set.begin, sets_.end(), sets_.begin() + latest.begin)) {
            sets_.resize(set.begin);
            set = latest;
        }
        table[row] = latest_[row] = set;
    }
}

std::span<const std::uint32_t> ShortestPaths::next(std::uint32_t node, std::uint32_t port) {
    const std::uint32_t target = exit_[port];
    if (node == target) {
        return {&last_link_[port], 1};
    }
    const std::uint32_t row = row_[node];
    if (row == kNone) {
        return {&out_links_[out_begin_[node]], 1};
    }
    if (tables_[target].empty()) {
        make_table(target);
    }
    const Range set = tables_[target][row];
    return {sets_.data() + set.begin, set.count};
}

// Whether every port has a link from and to one strongly connected component of the nodes that
// forward (one of several planes, say): then every pair has a path. O(links).
bool ShortestPaths::one_component_joins_all() const {
    std::vector<std::uint32_t> number(graph_.forwards.size(), kNone);
    std::uint32_t forwarding = 0;
    for (std::size_t node = 0; node < number.size(); ++node) {
        if (graph_.forwards[node]) {
            number[node] = forwarding++;
        }
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (const std::uint32_t link : out_links_) {
        const LinkEnds ends = graph_.links[link];
        if (number[ends.from] != kNone && number[ends.to] != kNone) {
            edges.emplace_back(number[ends.from], number[ends.to]);
        }
    }
    const Digraph graph(boost::edges_are_unsorted, edges.begin(), edges.end(), forwarding);
    std::vector<std::uint32_t> component(forwarding);
    const auto components =
        boost::strong_components(graph,
                                 boost::make_iterator_property_map(
                                     component.begin(), boost::get(boost::vertex_index, graph)));
    // For each component, the pairs (port, component) that a link leads into, and out of.
    using Pair = std::pair<std::uint32_t, std::uint32_t>;
    std::vector<Pair> into;
    std::vector<Pair> out_of;
    for (const std::uint32_t link : out_links_) {
        const LinkEnds ends = graph_.links[link];
        if (ends.from < graph_.ports && number[ends.to] != kNone) {
            into.emplace_back(component[number[ends.to]], ends.from);
        }
        if (ends.to < graph_.ports && number[ends.from] != kNone) {
            out_of.emplace_back(component[number[ends.from]], ends.to);
        }
    }
    const auto ports_of = [&](std::vector<Pair>& pairs) {
        std::sort(pairs.begin(), pairs.end());
        pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
        std::vector<std::uint32_t> ports(components);
        for (const Pair& pair : pairs) {
            ++ports[pair.first];
        }
        return ports;
    };
    const std::vector<std::uint32_t> entering = ports_of(into);
    const std::vector<std::uint32_t> leaving = ports_of(out_of);
    for (std::size_t c = 0; c < components; ++c) {
        if (entering[c] == graph_.ports && leaving[c] == graph_.ports) {
            return true;
        }
    }
    return false;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> ShortestPaths::cut_pairs(
    std::size_t most) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    if (graph_.ports == 1 || one_component_joins_all()) {
        return pairs;
    }
    std::vector<bool> whole(graph_.forwards.size());  // targets that every port reaches
    for (std::uint32_t port = 0; port < graph_.ports && pairs.size() < most; ++port) {
        const std::uint32_t target = exit_[port];
        if (whole[target]) {
            continue;
        }
        const std::vector<std::uint32_t> distances = distances_to(target);
        whole[target] = true;
        for (std::uint32_t source = 0; source < graph_.ports && pairs.size() < most; ++source) {
            whole[target] = whole[target] && distances[source] != kFar;
            if (distances[source] == kFar && source != port) {
                pairs.emplace_back(source, port);
            }
        }
    }
    return pairs;
}

}  // namespace astra
