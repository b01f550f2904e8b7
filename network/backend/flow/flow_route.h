// How one flow spreads over the links of its pair of ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "network/routing/routing.h"

namespace astra {

// The part of a flow, 0 < part <= 1, that goes over a link.
struct LinkShare {
    std::uint32_t link = 0;
    double part = 1;
};

// The links as the flow comes to them: layer i holds shares end_of_layer[i-1] … end_of_layer[i]-1.
// On every layer the parts add up to 1.
struct FlowRoute {
    std::vector<LinkShare> shares;
    std::vector<std::uint32_t> end_of_layer;
    Duration latency;  // of the longest path
    void clear();
};

class RouteFinder {
  public:
    explicit RouteFinder(Routing& routing);

    // Under Spray an even split at every node; under Ecmp and DimensionOrder one path, by the
    // pair's hash; under Adaptive of all shortest paths the one whose fullest link, with this flow
    // on it, has the most rate a flow, then the least loaded one, the first of equals; `load` are
    // the flows of each link. Of a layer of more than 256 nodes the first are looked at. Throws
    // SimulationError where there is no path.
    void find(std::uint32_t source,
              std::uint32_t destination,
              std::span<const std::uint32_t> load,
              FlowRoute& route);

  private:
    struct Part {
        std::uint32_t node = 0;
        double part = 1;
        std::uint64_t latency_ps = 0;
    };
    // A way to a node: where it comes from, and what it finds under way.
    struct Way {
        std::uint32_t node = 0;
        std::uint32_t before = 0;  // in ways_
        std::uint32_t link = 0;    // from there
        double most = 0;           // flows a rate, of the fullest link
        double sum = 0;
        bool is_better_than(const Way& other) const {
            return most != other.most ? most < other.most : sum < other.sum;
        }
    };
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    static constexpr std::size_t kWidestLayer = 256;

    void find_least_loaded(std::uint32_t source,
                           std::uint32_t destination,
                           std::span<const std::uint32_t> load,
                           FlowRoute& route);
    void go_on(std::uint32_t from,
               std::uint32_t layer,
               std::uint32_t destination,
               std::span<const std::uint32_t> load);
    [[noreturn]] void fail_no_path(std::uint32_t source,
                                   std::uint32_t destination,
                                   std::uint32_t node) const;
    void step(const Part& from, std::uint32_t source, std::uint32_t destination, FlowRoute& route);
    void reach(std::uint32_t node, double part, std::uint64_t latency_ps);

    Routing& routing_;
    const Topology& topology_;
    std::vector<Part> layer_;
    std::vector<Part> next_layer_;
    std::vector<Way> ways_;             // under Adaptive: layer behind layer
    std::vector<std::uint32_t> index_;  // a node: its index in next_layer_ or ways_, if it is there
};

}  // namespace astra
