#include "system/synthesis/group_graph.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace astra {

namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

}  // namespace

GroupGraph::GroupGraph(Routing& routing, std::span<const std::uint32_t> ranks)
    : members_(static_cast<std::uint32_t>(ranks.size())) {
    std::vector<std::uint32_t> member_of(routing.topology().nodes(), kNobody);
    for (std::uint32_t member = 0; member < members_; ++member) {
        member_of[ranks[member]] = member;
    }
    for (std::uint32_t from = 0; from < members_; ++from) {
        for (std::uint32_t to = 0; to < members_; ++to) {
            if (from != to) {
                add_path(routing, ranks, member_of, from, to);
            }
        }
    }
    // The links that are used at all get dense numbers.
    links_ = path_;
    std::sort(links_.begin(), links_.end());
    links_.erase(std::unique(links_.begin(), links_.end()), links_.end());
    for (std::uint32_t& link : path_) {
        link = static_cast<std::uint32_t>(std::lower_bound(links_.begin(), links_.end(), link) -
                                          links_.begin());
    }
    for (const std::uint32_t link : links_) {
        properties_.push_back(routing.topology().link(link));
    }
    sort_edges();
}

// Nothing if another member lies on the path.
void GroupGraph::add_path(Routing& routing,
                          std::span<const std::uint32_t> ranks,
                          std::span<const std::uint32_t> member_of,
                          std::uint32_t from,
                          std::uint32_t to) {
    const Topology& topology = routing.topology();
    const std::uint32_t source = ranks[from];
    const std::uint32_t destination = ranks[to];
    const auto first = static_cast<std::uint32_t>(path_.size());
    for (std::uint32_t node = source; node != destination;) {
        const Hop hop = routing.next_hop(node, source, destination);
        for (std::uint32_t step = 0; step < hop.count; ++step) {
            const std::uint32_t link = routing.link_of(hop, step);
            node = topology.link_ends(link).to;
            path_.push_back(link);
            if (node != destination && member_of[node] != kNobody) {
                path_.resize(first);
                return;
            }
        }
    }
    edges_.push_back({from, to, first, static_cast<std::uint32_t>(path_.size()) - first});
}

void GroupGraph::sort_edges() {
    const auto key = [this](const Edge& edge) {
        return std::tuple(
            edge.from, path_[edge.first], (edge.to + members_ - edge.from) % members_);
    };
    std::sort(edges_.begin(), edges_.end(), [&](const Edge& a, const Edge& b) {
        return key(a) < key(b);
    });
}

GroupGraph GroupGraph::reversed() const {
    GroupGraph graph = *this;
    for (Edge& edge : graph.edges_) {
        std::swap(edge.from, edge.to);
        const auto begin = graph.path_.begin() + edge.first;
        std::reverse(begin, begin + edge.count);
    }
    graph.sort_edges();
    return graph;
}

}  // namespace astra
