#include "network/routing/fabric_report.h"

#include <algorithm>
#include <limits>

#include <boost/graph/compressed_sparse_row_graph.hpp>

namespace astra {

namespace {

constexpr std::uint32_t kFewestDestinations = 16;
constexpr std::uint64_t kMostSteps = std::uint64_t{2048} * 2048;

using PathGraph =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, std::uint32_t>;
constexpr std::uint32_t kNoLink = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kSeveralLinks = kNoLink - 1;

// What there is from a node to the destination of the moment.
struct Reach {
    std::uint32_t links = 0;  // of the path with the most
    std::uint64_t paths = 0;  // 0: none yet
    Duration longest;
    std::uint32_t next = kNoLink;  // the one link out, or kSeveralLinks
    std::uint32_t last = kNoLink;  // the one link into the destination, or kSeveralLinks
};

std::uint32_t merged(std::uint32_t a, std::uint32_t b) {
    return a == kNoLink || a == b ? b : kSeveralLinks;
}

class PathCounter {
  public:
    explicit PathCounter(Routing& routing) : routing_(routing), topology_(routing.topology()) {}

    void count_to(std::uint32_t destination) {
        collect_ways(destination);
        const PathGraph graph(boost::edges_are_unsorted,
                              edges_.begin(),
                              edges_.end(),
                              links_.begin(),
                              topology_.nodes());
        reaches_.assign(topology_.nodes(), {});
        reaches_[destination].paths = 1;
        gather(graph, destination);
        for (std::uint32_t source = 0; source < topology_.ranks(); ++source) {
            if (source != destination) {
                add(reaches_[source]);
            }
        }
        ++report_.destinations;
    }

    PathReport report() const {
        PathReport report = report_;
        if (report.pairs > 0) {
            report.mean_links = sum_links_ / static_cast<double>(report.pairs);
            report.mean_paths = sum_paths_ / static_cast<double>(report.pairs);
        }
        return report;
    }

  private:
    // The next links of every node towards the destination, reversed. A node with one link gives it
    // even where it leads nowhere: what does not forward is left out here.
    void collect_ways(std::uint32_t destination) {
        edges_.clear();
        links_.clear();
        for (std::uint32_t node = 0; node < topology_.nodes(); ++node) {
            if (node == destination) {
                continue;
            }
            for (const std::uint32_t link : routing_.next_links(node, destination)) {
                const std::uint32_t to = topology_.link_ends(link).to;
                if (to == destination || topology_.forwards(to)) {
                    edges_.emplace_back(to, node);
                    links_.push_back(link);
                }
            }
        }
    }

    // Hands on what every node has to those before it: when its turn comes all nodes after it have
    // had theirs, so that this is complete.
    void gather(const PathGraph& graph, std::uint32_t destination) {
        waits_for_.assign(topology_.nodes(), 0);
        for (const auto& [to, from] : edges_) {
            ++waits_for_[from];
        }
        ready_.assign(1, destination);
        for (std::size_t i = 0; i < ready_.size(); ++i) {
            const std::uint32_t node = ready_[i];
            const auto [begin, end] = boost::out_edges(PathGraph::vertex_descriptor{node}, graph);
            for (auto edge = begin; edge != end; ++edge) {
                const auto before = static_cast<std::uint32_t>(boost::target(*edge, graph));
                hand_on(reaches_[node], graph[*edge], reaches_[before]);
                if (--waits_for_[before] == 0) {
                    ready_.push_back(before);
                }
            }
        }
    }

    void hand_on(const Reach& nearer, std::uint32_t link, Reach& reach) const {
        reach.links = std::max(reach.links, nearer.links + 1);
        reach.paths = saturating_add(reach.paths, nearer.paths);
        reach.longest = std::max(reach.longest, nearer.longest + topology_.link(link).latency);
        reach.next = merged(reach.next, link);
        reach.last = merged(reach.last, nearer.links == 0 ? link : nearer.last);
    }

    void add(const Reach& reach) {
        if (reach.paths == 0) {
            ++report_.pairs_cut;
            return;
        }
        PathReport& sum = report_;
        sum.fewest_paths = sum.pairs == 0 ? reach.paths : std::min(sum.fewest_paths, reach.paths);
        sum.most_paths = std::max(sum.most_paths, reach.paths);
        sum.diameter_links = std::max(sum.diameter_links, reach.links);
        sum.longest = std::max(sum.longest, reach.longest);
        sum.pairs_of_one_first_link += reach.next == kSeveralLinks ? 0 : 1;
        sum.pairs_of_one_last_link += reach.last == kSeveralLinks ? 0 : 1;
        sum_links_ += reach.links;
        sum_paths_ += static_cast<double>(reach.paths);
        ++sum.pairs;
    }

    Routing& routing_;
    const Topology& topology_;
    PathReport report_;
    double sum_links_ = 0;
    double sum_paths_ = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
    std::vector<std::uint32_t> links_;
    std::vector<Reach> reaches_;
    std::vector<std::uint32_t> waits_for_;  // a node: nodes after it that have not had their turn
    std::vector<std::uint32_t> ready_;
};

std::vector<LinkClassReport> count_classes(const Routing& routing, std::uint32_t& down_links) {
    const Topology& topology = routing.topology();
    std::vector<LinkClassReport> classes(topology.classes().size());
    for (std::uint32_t link = 0; link < topology.links(); ++link) {
        LinkClassReport& report = classes[topology.link_class(link)];
        ++report.links;
        if (!routing.is_up(link)) {
            ++report.down;
            ++down_links;
        }
    }
    for (std::size_t i = 0; i < classes.size(); ++i) {
        classes[i].properties = topology.classes()[i];
    }
    std::erase_if(classes, [](const LinkClassReport& report) { return report.links == 0; });
    return classes;
}

}  // namespace

PathReport report_paths(Routing& routing, std::uint32_t most_destinations) {
    const std::uint32_t ranks = routing.topology().ranks();
    const std::uint64_t chosen = std::min(ranks, most_destinations);
    PathCounter counter(routing);
    for (std::uint64_t i = 0; i < chosen; ++i) {
        counter.count_to(static_cast<std::uint32_t>(i * ranks / chosen));
    }
    return counter.report();
}

FabricReport report_fabric(Routing& routing) {
    const Topology& topology = routing.topology();
    FabricReport report;
    report.ranks = topology.ranks();
    report.switches = topology.nodes() - topology.ranks();
    report.links = topology.links();
    report.classes = count_classes(routing, report.down_links);
    const std::uint64_t affordable = kMostSteps / topology.nodes();
    report.paths = report_paths(
        routing,
        report.ranks <= kMostRanksOfAllPairs
            ? report.ranks
            : static_cast<std::uint32_t>(std::max<std::uint64_t>(affordable, kFewestDestinations)));
    report.bisection = report_bisection(routing);
    return report;
}

}  // namespace astra
