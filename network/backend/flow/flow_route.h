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
    // pair's hash; under Adaptive one path, link by link the one with the least of `load` (a value
    // a link), the first of equals. Throws SimulationError where there is no path.
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
    void step(const Part& from,
              std::uint32_t source,
              std::uint32_t destination,
              std::span<const std::uint32_t> load,
              FlowRoute& route);
    void reach(std::uint32_t node, double part, std::uint64_t latency_ps);

    Routing& routing_;
    const Topology& topology_;
    std::vector<Part> layer_;
    std::vector<Part> next_layer_;
    std::vector<std::uint32_t> index_;  // a node: its index in next_layer_, if it is there
};

}  // namespace astra
