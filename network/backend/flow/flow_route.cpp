#include "network/backend/flow/flow_route.h"

#include <algorithm>

#include <fmt/format.h>

#include "astra/core/error.h"

namespace astra {

void FlowRoute::clear() {
    shares.clear();
    end_of_layer.clear();
    latency = {};
}

RouteFinder::RouteFinder(Routing& routing)
    : routing_(routing), topology_(routing.topology()), index_(topology_.nodes()) {}

void RouteFinder::find(std::uint32_t source,
                       std::uint32_t destination,
                       std::span<const std::uint32_t> load,
                       FlowRoute& route) {
    route.clear();
    if (routing_.policy() == RoutePolicy::Adaptive) {
        find_least_loaded(source, destination, load, route);
        return;
    }
    layer_.assign(1, {source, 1.0, 0});
    while (layer_.front().node != destination) {
        next_layer_.clear();
        for (const Part& part : layer_) {
            step(part, source, destination, route);
        }
        route.end_of_layer.push_back(static_cast<std::uint32_t>(route.shares.size()));
        layer_.swap(next_layer_);
    }
    route.latency = {layer_.front().latency_ps};
}

void RouteFinder::step(const Part& from,
                       std::uint32_t source,
                       std::uint32_t destination,
                       FlowRoute& route) {
    std::span<const std::uint32_t> links = routing_.next_links(from.node, destination);
    if (links.empty()) {
        fail_no_path(source, destination, from.node);
    }
    if (routing_.policy() != RoutePolicy::Spray) {
        const std::uint32_t choice =
            Routing::hashed_choice(routing_.pair_hash(source, destination),
                                   from.node,
                                   static_cast<std::uint32_t>(links.size()));
        links = links.subspan(choice, 1);
    }
    const double part = from.part / static_cast<double>(links.size());
    for (const std::uint32_t link : links) {
        route.shares.push_back({link, part});
        const std::uint64_t latency_ps = topology_.link(link).latency.ps;
        reach(topology_.link_ends(link).to, part, saturating_add(from.latency_ps, latency_ps));
    }
}

void RouteFinder::reach(std::uint32_t node, double part, std::uint64_t latency_ps) {
    const std::uint32_t index = index_[node];
    if (index < next_layer_.size() && next_layer_[index].node == node) {
        next_layer_[index].part += part;
        next_layer_[index].latency_ps = std::max(next_layer_[index].latency_ps, latency_ps);
        return;
    }
    index_[node] = static_cast<std::uint32_t>(next_layer_.size());
    next_layer_.push_back({node, part, latency_ps});
}

// Layer by layer, at every node the best way to come there.
void RouteFinder::find_least_loaded(std::uint32_t source,
                                    std::uint32_t destination,
                                    std::span<const std::uint32_t> load,
                                    FlowRoute& route) {
    ways_.assign(1, Way{});
    ways_.front().node = source;
    std::uint32_t best = kNone;
    std::uint32_t begin = 0;
    while (begin < ways_.size()) {
        const auto end = static_cast<std::uint32_t>(ways_.size());
        for (std::uint32_t way = begin; way < end; ++way) {
            if (ways_[way].node != destination) {
                go_on(way, end, destination, load);
            } else if (best == kNone || ways_[way].is_better_than(ways_[best])) {
                best = way;
            }
        }
        begin = end;
    }
    if (best == kNone) {
        fail_no_path(source, destination, ways_.back().node);
    }
    for (std::uint32_t way = best; way != 0; way = ways_[way].before) {
        route.shares.push_back({ways_[way].link, 1.0});
        route.latency = route.latency + topology_.link(ways_[way].link).latency;
    }
    std::reverse(route.shares.begin(), route.shares.end());
    for (std::uint32_t i = 0; i < route.shares.size(); ++i) {
        route.end_of_layer.push_back(i + 1);
    }
}

// The nodes behind `from`, in the layer that begins at `layer`.
void RouteFinder::go_on(std::uint32_t from,
                        std::uint32_t layer,
                        std::uint32_t destination,
                        std::span<const std::uint32_t> load) {
    for (const std::uint32_t link : routing_.next_links(ways_[from].node, destination)) {
        const std::uint64_t rate = topology_.link(link).bandwidth.bits_per_s;
        const double share =
            rate == 0 ? 0 : (1.0 + static_cast<double>(load[link])) / static_cast<double>(rate);
        const Way way{topology_.link_ends(link).to,
                      from,
                      link,
                      std::max(ways_[from].most, share),
                      ways_[from].sum + share};
        const std::uint32_t known = index_[way.node];
        if (known >= layer && known < ways_.size() && ways_[known].node == way.node) {
            if (way.is_better_than(ways_[known])) {
                ways_[known] = way;
            }
        } else if (ways_.size() - layer < kWidestLayer) {
            index_[way.node] = static_cast<std::uint32_t>(ways_.size());
            ways_.push_back(way);
        }
    }
}

void RouteFinder::fail_no_path(std::uint32_t source,
                               std::uint32_t destination,
                               std::uint32_t node) const {
    throw SimulationError(fmt::format("no path from rank {} to rank {}: it ends at {}",
                                      source,
                                      destination,
                                      topology_.node_name(node)));
}

}  // namespace astra
