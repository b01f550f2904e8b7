// Bisection bandwidth as a maximum flow by push and relabel (Cherkassky and Goldberg, Algorithmica
// 1997).
#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

// The value of the flow is that of the first of the algorithm's two stages (it is tested against
// all cuts). On some graphs with links in both directions the second, which nobody needs here,
// leaves what an assertion of Boost 1.74 stops at in debug builds.
#define BOOST_DISABLE_ASSERTS
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>

#include "network/routing/fabric_report.h"

namespace astra {

namespace {

// Beyond it a maximum flow would take minutes.
constexpr std::size_t kMostMergedLinks = 1'000'000;

constexpr std::uint32_t kFirstHalf = 0;
constexpr std::uint32_t kSecondHalf = 1;

// Ranks of a half are one vertex: each is a source, or a drain, without limit, so that nothing
// gains by passing through it. Switches follow.
std::uint32_t vertex_of(const Topology& topology, std::uint32_t node) {
    if (node >= topology.ranks()) {
        return node - topology.ranks() + 2;
    }
    return node < topology.ranks() / 2 ? kFirstHalf : kSecondHalf;
}

struct Pipe {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint64_t capacity = 0;  // bits a second, or in the unit of the flow
};

// Adds up pipes of equal ends; the result is sorted.
void merge(std::vector<Pipe>& pipes) {
    std::sort(pipes.begin(), pipes.end(), [](const Pipe& a, const Pipe& b) {
        return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    });
    std::size_t kept = 0;
    for (const Pipe& pipe : pipes) {
        Pipe* last = kept == 0 ? nullptr : &pipes[kept - 1];
        if (last != nullptr && last->from == pipe.from && last->to == pipe.to) {
            last->capacity = saturating_add(last->capacity, pipe.capacity);
        } else {
            pipes[kept++] = pipe;
        }
    }
    pipes.resize(kept);
}

std::vector<Pipe> merged_links(const Routing& routing) {
    const Topology& topology = routing.topology();
    std::vector<Pipe> pipes;
    std::size_t merged = 0;
    for (std::uint32_t link = 0; link < topology.links(); ++link) {
        const LinkEnds ends = topology.link_ends(link);
        const std::uint32_t from = vertex_of(topology, ends.from);
        const std::uint32_t to = vertex_of(topology, ends.to);
        if (from != to && routing.is_up(link)) {
            pipes.push_back({from, to, topology.link(link).bandwidth.bits_per_s});
        }
        // Now and then, so that few of the links of a large fabric are held at once.
        if (pipes.size() > merged + kMostMergedLinks) {
            merge(pipes);
            merged = pipes.size();
        }
    }
    merge(pipes);
    return pipes;
}

// What capacities are counted in, so that no sum of them passes a signed 64-bit number: their
// greatest common divisor, doubled until they fit.
std::uint64_t unit_of(const std::vector<Pipe>& pipes) {
    std::uint64_t unit = 0;
    double sum = 0;
    for (const Pipe& pipe : pipes) {
        unit = std::gcd(unit, pipe.capacity);
        sum += static_cast<double>(pipe.capacity);
    }
    unit = std::max<std::uint64_t>(unit, 1);
    while (sum / static_cast<double>(unit) > 0x1p62) {
        unit *= 2;
    }
    return unit;
}

// Bits a second.
std::uint64_t max_flow(std::vector<Pipe> pipes,
                       std::uint32_t vertices,
                       std::uint32_t source,
                       std::uint32_t sink) {
    using Graph = boost::compressed_sparse_row_graph<boost::directedS>;
    const std::uint64_t unit = unit_of(pipes);
    // Every pipe needs an opposite one, of no capacity where the fabric has none.
    const std::size_t count = pipes.size();
    for (std::size_t i = 0; i < count; ++i) {
        pipes[i].capacity /= unit;
        pipes.push_back({pipes[i].to, pipes[i].from, 0});
    }
    merge(pipes);

    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
    std::vector<std::int64_t> capacity;
    for (const Pipe& pipe : pipes) {
        ends.emplace_back(pipe.from, pipe.to);
        capacity.push_back(static_cast<std::int64_t>(pipe.capacity));
    }
    const Graph graph(boost::edges_are_sorted, ends.begin(), ends.end(), vertices);
    const std::vector<Graph::edge_descriptor> edges(boost::edges(graph).first,
                                                    boost::edges(graph).second);
    std::vector<Graph::edge_descriptor> opposite;
    for (const auto& [from, to] : ends) {
        const auto found = std::lower_bound(ends.begin(), ends.end(), std::pair{to, from});
        opposite.push_back(edges[static_cast<std::size_t>(found - ends.begin())]);
    }
    std::vector<std::int64_t> residual(pipes.size());
    const auto edge = boost::get(boost::edge_index, graph);
    const auto vertex = boost::get(boost::vertex_index, graph);
    using boost::make_iterator_property_map;
    const std::int64_t flow =
        boost::push_relabel_max_flow(graph,
                                     source,
                                     sink,
                                     make_iterator_property_map(capacity.begin(), edge),
                                     make_iterator_property_map(residual.begin(), edge),
                                     make_iterator_property_map(opposite.begin(), edge),
                                     vertex);
    return saturating_multiply(static_cast<std::uint64_t>(flow), unit);
}

}  // namespace

BisectionReport report_bisection(const Routing& routing) {
    const Topology& topology = routing.topology();
    BisectionReport report;
    for (std::uint32_t link = 0; link < topology.links(); ++link) {
        if (routing.is_up(link) && topology.link_ends(link).from < topology.ranks() / 2) {
            report.full.bits_per_s =
                saturating_add(report.full.bits_per_s, topology.link(link).bandwidth.bits_per_s);
        }
    }
    const std::vector<Pipe> pipes = merged_links(routing);
    const std::uint32_t vertices = topology.nodes() - topology.ranks() + 2;
    report.known = pipes.size() <= kMostMergedLinks;
    if (report.known && !pipes.empty()) {
        report.forth.bits_per_s = max_flow(pipes, vertices, kFirstHalf, kSecondHalf);
        report.back.bits_per_s = max_flow(pipes, vertices, kSecondHalf, kFirstHalf);
    }
    return report;
}

}  // namespace astra
