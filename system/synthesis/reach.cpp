#include "system/synthesis/reach.h"

#include <algorithm>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

namespace astra {

namespace {

// More would only cost time: a factor of 1.5^15 lies between the first and the last.
constexpr std::uint32_t kMostLevels = 16;

}  // namespace

Reach::Reach(const GroupGraph& graph,
             const std::vector<std::uint64_t>& edge_ps,
             std::uint32_t blocks)
    : words_((blocks + 63) / 64) {
    find_levels(edge_ps);
    for (std::uint32_t level = 1; level < domain_.size(); ++level) {
        find_domains(graph, level);
    }
}

void Reach::find_levels(const std::vector<std::uint64_t>& edge_ps) {
    std::vector<std::uint64_t> times = edge_ps;
    std::sort(times.begin(), times.end());
    std::vector<std::uint64_t> firsts;
    for (const std::uint64_t time : times) {
        if (firsts.empty() || (firsts.size() < kMostLevels &&
                               time > saturating_add(firsts.back(), firsts.back() / 2))) {
            firsts.push_back(time);
        }
    }
    for (const std::uint64_t time : edge_ps) {
        const auto after = std::upper_bound(firsts.begin(), firsts.end(), time);
        level_.push_back(static_cast<std::uint32_t>(after - firsts.begin()) - 1);
    }
    domain_.resize(firsts.size());
    faster_.resize(firsts.size());
    claimed_.resize(firsts.size());
}

void Reach::find_domains(const GroupGraph& graph, std::uint32_t level) {
    const auto edges = graph.edges();
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> faster(graph.members());
    std::vector<bool> seen(graph.links());
    faster_[level].resize(graph.members());
    for (std::uint32_t e = 0; e < edges.size(); ++e) {
        if (level_[e] >= level) {
            continue;
        }
        boost::add_edge(edges[e].from, edges[e].to, faster);
        const std::uint32_t last = graph.path(edges[e]).back();
        if (!seen[last]) {
            seen[last] = true;
            std::uint64_t& rate = faster_[level][edges[e].to].bits_per_s;
            rate = saturating_add(rate, graph.properties(last).bandwidth.bits_per_s);
        }
    }
    domain_[level].resize(graph.members());
    const auto domains = static_cast<std::size_t>(boost::strong_components(
        faster,
        boost::make_iterator_property_map(domain_[level].begin(),
                                          boost::get(boost::vertex_index, faster))));
    claimed_[level].assign(domains * words_, 0);
}

void Reach::claim(std::uint32_t member, std::uint32_t block) {
    for (std::uint32_t level = 1; level < domain_.size(); ++level) {
        claimed_[level][std::size_t{domain_[level][member]} * words_ + block / 64] |=
            std::uint64_t{1} << (block % 64);
    }
}

}  // namespace astra
