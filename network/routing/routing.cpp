#include "network/routing/routing.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "astra/core/mix.h"

namespace astra {

Routing::Routing(const Topology& topology, RoutePolicy policy, std::uint64_t seed)
    : topology_(topology), policy_(policy), seed_(seed) {
    for (std::uint32_t k = 0; k < topology.physical_dimensions(); ++k) {
        const Dimension& dimension = topology.physical_dimension(k);
        chain_size_.push_back(topology.chain_size(k));
        fabrics_.push_back(dimension.plain() == nullptr
                               ? std::make_unique<ShortestPaths>(graph_of(dimension))
                               : nullptr);
    }
    if (!topology.down_links().empty()) {
        up_.assign(topology.links(), true);
        for (const LinkId link : topology.down_links()) {
            up_[index(link)] = false;
        }
    }
    find_paths();
}

void Routing::find_paths() {
    const bool all_up = std::all_of(up_.begin(), up_.end(), [](bool up) { return up; });
    whole_ = all_up ? nullptr : whole_graph();
    direct_ = whole_ != nullptr ? whole_.get() : fabrics_.size() == 1 ? fabrics_[0].get() : nullptr;
}

std::unique_ptr<ShortestPaths> Routing::whole_graph() const {
    ShortestPaths::Graph graph;
    graph.ports = topology_.ranks();
    graph.up = up_;
    for (std::uint32_t node = 0; node < topology_.nodes(); ++node) {
        graph.forwards.push_back(topology_.forwards(node));
    }
    for (std::uint32_t link = 0; link < topology_.links(); ++link) {
        graph.add(topology_.link_ends(link), topology_.link_weight(link));
    }
    return std::make_unique<ShortestPaths>(std::move(graph));
}

void Routing::set_up(LinkId link, bool up) {
    if (up_.empty()) {
        up_.assign(topology_.links(), true);
    }
    up_[index(link)] = up;
    find_paths();
}

void Routing::add_next(std::uint32_t k,
                       std::uint32_t row,
                       std::uint32_t local,
                       std::uint32_t destination) {
    const std::uint32_t first = topology_.first_link(k, row);
    const std::uint32_t port = topology_.position(destination, k);
    if (fabrics_[k] == nullptr) {
        next_.push_back(first +
                        topology_.physical_dimension(k).plain()->next_run(local, port).first);
        return;
    }
    for (const std::uint32_t link : fabrics_[k]->next(local, port)) {
        next_.push_back(first + link);
    }
}

std::span<const std::uint32_t> Routing::next_of_product(std::uint32_t node,
                                                        std::uint32_t destination) {
    next_.clear();
    if (node >= topology_.ranks()) {
        const Topology::LocalNode at = topology_.local_switch(node);
        add_next(at.dimension, at.row, at.local, destination);
        return next_;
    }
    for (std::uint32_t k = 0; k < topology_.physical_dimensions(); ++k) {
        const std::uint32_t here = topology_.position(node, k);
        if (here != topology_.position(destination, k)) {
            add_next(k, topology_.row_of(node, k), here, destination);
            if (policy_ == RoutePolicy::DimensionOrder) {
                break;
            }
        }
    }
    return next_;
}

std::uint64_t Routing::pair_hash(std::uint32_t source, std::uint32_t destination) const {
    return mix(mix(seed_) ^ ((std::uint64_t{source} << 32) | destination));
}

std::uint32_t Routing::hashed_choice(std::uint64_t pair_hash,
                                     std::uint32_t node,
                                     std::uint32_t count) {
    if (count == 1) {
        return 0;
    }
    const std::uint64_t hash = mix(pair_hash + node) >> 32;
    return static_cast<std::uint32_t>(hash * count >> 32);
}

Hop Routing::one_link(std::uint32_t link) const {
    Hop hop;
    hop.first = link;
    hop.count = 1;
    hop.dimension = topology_.dimension_of_link(link);
    const std::uint32_t begin = topology_.first_link(hop.dimension);
    hop.chain = link - (link - begin) % chain_size_[hop.dimension];
    hop.end = topology_.link_ends(link).to;
    hop.link_class = topology_.link_class(link);
    return hop;
}

Hop Routing::run_of(std::uint32_t k,
                    std::uint32_t row,
                    std::uint32_t local,
                    std::uint32_t destination) const {
    const PlainDimension& dimension = *topology_.physical_dimension(k).plain();
    const LinkRun run = dimension.next_run(local, topology_.position(destination, k));
    const std::uint32_t first = topology_.first_link(k, row);
    if (!topology_.uniform(k)) {
        return one_link(first + run.first);
    }
    Hop hop;
    hop.first = first + run.first;
    hop.count = run.count;
    hop.dimension = k;
    hop.chain = hop.first - run.first % chain_size_[k];
    const std::uint32_t last = link_of(hop, run.count - 1) - first;
    hop.end = topology_.node_in_row(k, row, dimension.ends(last).to);
    hop.link_class = topology_.link_class(first);
    return hop;
}

Hop Routing::next_hop(std::uint32_t node, std::uint32_t source, std::uint32_t destination) {
    if (direct_ == nullptr && policy_ == RoutePolicy::DimensionOrder) {
        Topology::LocalNode at;
        if (node >= topology_.ranks()) {
            at = topology_.local_switch(node);
        } else {
            at.dimension = lowest_dimension(node, destination);
            at.row = topology_.row_of(node, at.dimension);
            at.local = topology_.position(node, at.dimension);
        }
        if (fabrics_[at.dimension] == nullptr) {
            return run_of(at.dimension, at.row, at.local, destination);
        }
    }
    const std::span<const std::uint32_t> links = next_links(node, destination);
    if (links.empty()) {
        throw SimulationError(fmt::format("no path from rank {} to rank {}", source, destination));
    }
    const auto count = static_cast<std::uint32_t>(links.size());
    return one_link(links[hashed_choice(pair_hash(source, destination), node, count)]);
}

std::uint32_t Routing::lowest_dimension(std::uint32_t rank, std::uint32_t destination) const {
    std::uint32_t k = 0;
    while (topology_.position(rank, k) == topology_.position(destination, k)) {
        ++k;
    }
    return k;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Routing::cut_pairs(std::size_t most) const {
    if (whole_ != nullptr) {
        return whole_->cut_pairs(most);
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::uint32_t k = 0; k < fabrics_.size(); ++k) {
        if (fabrics_[k] == nullptr || pairs.size() >= most) {
            continue;
        }
        for (const auto& [from, to] : fabrics_[k]->cut_pairs(most - pairs.size())) {
            pairs.emplace_back(topology_.node_in_row(k, 0, from), topology_.node_in_row(k, 0, to));
        }
    }
    return pairs;
}

RoutePolicy automatic_policy(const Topology& topology, RoutePolicy usual) {
    RoutePolicy policy = RoutePolicy::DimensionOrder;
    for (std::uint32_t k = 0; k < topology.physical_dimensions(); ++k) {
        policy = topology.physical_dimension(k).plain() == nullptr ? usual : policy;
    }
    return policy;
}

Routing read_routing(const ConfigView& network,
                     const Topology& topology,
                     RoutePolicy usual,
                     const std::string& needed_to_split) {
    const std::array<std::string, 5> names = {
        "auto", "dimension_order", "ecmp", "spray", "adaptive"};
    const std::string name = network.choice_or("routing", "auto", names);
    RoutePolicy policy = automatic_policy(topology, usual);
    if (name != "auto") {
        const auto position = std::find(names.begin() + 1, names.end(), name) - (names.begin() + 1);
        policy = static_cast<RoutePolicy>(position);
    }
    if (!needed_to_split.empty() &&
        (policy == RoutePolicy::Spray || policy == RoutePolicy::Adaptive)) {
        network.at("routing").fail(fmt::format(
            "{} needs {}; this one sends a message on one path: ecmp or dimension_order",
            name,
            needed_to_split));
    }
    const std::uint64_t seed = network.seed_or("seed", 1);
    Routing routing(topology, policy, seed);
    constexpr std::size_t most_pairs = 1000;
    const auto cut = routing.cut_pairs(most_pairs);
    if (!cut.empty()) {
        const ConfigView where =
            network.has("links") ? network.at("links") : network.at("dimensions");
        where.fail(fmt::format("the fabric is cut: no path from rank {} to rank {}{}",
                               cut[0].first,
                               cut[0].second,
                               cut.size() == 1
                                   ? ""
                                   : fmt::format(", nor for {}{} other pairs",
                                                 cut.size() == most_pairs ? "over " : "",
                                                 cut.size() - 1)));
    }
    return routing;
}

}  // namespace astra
