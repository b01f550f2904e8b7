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
    layer_.assign(1, {source, 1.0, 0});
    while (layer_.front().node != destination) {
        next_layer_.clear();
        for (const Part& part : layer_) {
            step(part, source, destination, load, route);
        }
        route.end_of_layer.push_back(static_cast<std::uint32_t>(route.shares.size()));
        layer_.swap(next_layer_);
    }
    route.latency = {layer_.front().latency_ps};
}

void RouteFinder::step(const Part& from,
                       std::uint32_t source,
                       std::uint32_t destination,
                       std::span<const std::uint32_t> load,
                       FlowRoute& route) {
    std::span<const std::uint32_t> links = routing_.next_links(from.node, destination);
    if (links.empty()) {
        throw SimulationError(fmt::format("no path from rank {} to rank {}: it ends at {}",
                                          source,
                                          destination,
                                          topology_.node_name(from.node)));
    }
    if (routing_.policy() == RoutePolicy::Adaptive) {
        const auto less = [&](std::uint32_t a, std::uint32_t b) { return load[a] < load[b]; };
        const auto least = std::min_element(links.begin(), links.end(), less) - links.begin();
        links = links.subspan(static_cast<std::size_t>(least), 1);
    } else if (routing_.policy() != RoutePolicy::Spray) {
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

}  // namespace astra
