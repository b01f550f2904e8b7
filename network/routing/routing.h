// The paths of messages through a topology: equal-cost next links, worked out on demand and shared.
//
// A product of plain dimensions is routed by its formulas. A fabric that is a graph, and a whole
// topology with a link down, is routed by shortest paths (see shortest_paths.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "astra/config/config_view.h"
#include "network/routing/shortest_paths.h"
#include "network/topology/topology.h"

namespace astra {

enum class RoutePolicy : std::uint8_t {
    DimensionOrder,  // the lowest dimension first; equal-cost links of it by the pair's hash
    Ecmp,            // one of all shortest paths, by the hash of source and destination
    Spray,           // all shortest paths: packet by packet, or an even split of a flow
    Adaptive,        // the equal-cost link that is least loaded when the packet or flow comes to it
};

// A run of links of the whole topology, all of one physical dimension and of one class.
struct Hop {
    std::uint32_t first = 0;  // link
    std::uint32_t count = 0;
    std::uint32_t dimension = 0;  // physical
    std::uint32_t chain = 0;      // the chain's first link
    std::uint32_t end = 0;        // node
    std::uint32_t link_class = 0;
};

class Routing {
  public:
    // The topology outlives the routing. Links that are down from the start are left out.
    Routing(const Topology& topology, RoutePolicy policy, std::uint64_t seed);

    const Topology& topology() const { return topology_; }
    RoutePolicy policy() const { return policy_; }
    std::uint64_t seed() const { return seed_; }

    // Links from `node` on a shortest path to the rank `destination`, which is not that node; of
    // the lowest dimension only under dimension order. Ascending. Empty: no path (a rank with one
    // link that does not forward gives it all the same; the next node then has none). Valid until
    // the next call.
    std::span<const std::uint32_t> next_links(std::uint32_t node, std::uint32_t destination) {
        if (direct_ != nullptr) {
            return direct_->next(node, destination);
        }
        return next_of_product(node, destination);
    }

    // Mixes the seed and a pair of ranks: the same for all messages of the pair.
    std::uint64_t pair_hash(std::uint32_t source, std::uint32_t destination) const;
    // Which of `count` equal-cost links at `node` a flow of that hash takes.
    static std::uint32_t hashed_choice(std::uint64_t pair_hash,
                                       std::uint32_t node,
                                       std::uint32_t count);

    // The next links on the one path of a pair, for backends that know neither packets nor splits.
    // Throws SimulationError where there is no path.
    Hop next_hop(std::uint32_t node, std::uint32_t source, std::uint32_t destination);
    // The link of a hop, 0 <= step < count.
    std::uint32_t link_of(const Hop& hop, std::uint32_t step) const {
        const std::uint32_t position = hop.first - hop.chain + step;
        const std::uint32_t chain_size = chain_size_[hop.dimension];
        return hop.chain + (position >= chain_size ? position - chain_size : position);
    }

    // Takes a link out of the fabric, or back into it, from now on.
    void set_up(LinkId link, bool up);
    bool is_up(std::uint32_t link) const { return up_.empty() || up_[link]; }

    // Pairs of ranks without a path, at most `most` of them.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> cut_pairs(std::size_t most) const;

  private:
    std::span<const std::uint32_t> next_of_product(std::uint32_t node, std::uint32_t destination);
    void add_next(std::uint32_t k,
                  std::uint32_t row,
                  std::uint32_t local,
                  std::uint32_t destination);
    Hop one_link(std::uint32_t link) const;
    Hop run_of(std::uint32_t k,
               std::uint32_t row,
               std::uint32_t local,
               std::uint32_t destination) const;
    std::uint32_t lowest_dimension(std::uint32_t rank, std::uint32_t destination) const;
    void find_paths();
    std::unique_ptr<ShortestPaths> whole_graph() const;

    const Topology& topology_;
    RoutePolicy policy_;
    std::uint64_t seed_;
    std::vector<std::uint32_t> chain_size_;                // a dimension
    std::vector<std::unique_ptr<ShortestPaths>> fabrics_;  // a dimension; null for a plain one
    std::unique_ptr<ShortestPaths> whole_;                 // while a link is down
    ShortestPaths* direct_ = nullptr;  // answers for the whole topology, if one does
    std::vector<bool> up_;             // a link; empty: all
    std::vector<std::uint32_t> next_;
};

// Dimension order, but on a topology with a fabric of switches `usual`.
RoutePolicy automatic_policy(const Topology& topology, RoutePolicy usual);

// network.routing (`auto`: automatic_policy) and network.seed. Throws ConfigError; also for
// policies that split a flow where the backend cannot, and for a topology in which a pair of ranks
// has no path. `needed_to_split`: what such policies need; "" if they have it.
Routing read_routing(const ConfigView& network,
                     const Topology& topology,
                     RoutePolicy usual,
                     const std::string& needed_to_split);

}  // namespace astra
