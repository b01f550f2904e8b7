// The fabric: a product of dimensions over all ranks, routed in dimension order.
//
// Rank r has in dimension k the coordinate (r / (n_0 · … · n_{k-1})) mod n_k: dimension 0 varies
// fastest. The ranks that differ in dimension k alone form a row, wired as the dimension says. A
// message first travels in the lowest dimension in which source and destination differ.
//
// Nodes: ranks 0 … ranks()-1, then the switches. Links: 0 … links()-1, directed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "astra/config/config_view.h"
#include "astra/core/types.h"
#include "network/topology/dimension.h"

namespace astra {

// A run of links of the whole topology, all of one dimension.
struct Hop {
    std::uint32_t first = 0;  // link
    std::uint32_t count = 0;
    std::uint32_t dimension = 0;
    std::uint32_t lane = 0;  // the lane's first link
    std::uint32_t end = 0;   // node
};

class Topology {
  public:
    // Reads network.dimensions. Throws ConfigError.
    static Topology from_config(const ConfigView& network);

    struct DimensionSpec {
        std::string kind;
        std::uint32_t ports = 1;
        Bandwidth bandwidth;
        Duration latency;  // of one link
        std::unique_ptr<const Dimension> wiring;
        std::string bandwidth_text;  // as configured, for people; "" = made from `bandwidth`
    };
    explicit Topology(std::vector<DimensionSpec> dimensions);

    std::uint32_t ranks() const { return ranks_; }
    std::uint64_t links() const { return links_; }
    std::uint32_t dimensions() const { return static_cast<std::uint32_t>(parts_.size()); }
    std::uint32_t ports(std::uint32_t dimension) const { return parts_[dimension].spec.ports; }
    // Ranks between neighbours of a dimension: the product of the sizes of the lower ones.
    std::uint32_t stride(std::uint32_t dimension) const { return parts_[dimension].stride; }
    const std::string& kind(std::uint32_t dimension) const { return parts_[dimension].spec.kind; }
    Bandwidth bandwidth(std::uint32_t dimension) const { return parts_[dimension].spec.bandwidth; }
    Duration latency(std::uint32_t dimension) const { return parts_[dimension].spec.latency; }
    std::uint32_t coordinate(std::uint32_t rank, std::uint32_t dimension) const {
        return coordinates_[std::size_t{rank} * parts_.size() + dimension];
    }

    // The next links on the way from a node to a rank, which is not that node.
    Hop next_hop(std::uint32_t node, std::uint32_t destination) const;
    // The link of a hop, 0 <= step < count.
    std::uint32_t link_of(const Hop& hop, std::uint32_t step) const {
        const std::uint32_t place = hop.first - hop.lane + step;
        const std::uint32_t lane_size = parts_[hop.dimension].lane_size;
        return hop.lane + (place >= lane_size ? place - lane_size : place);
    }

    LinkEnds link_ends(std::uint32_t link) const;
    std::uint32_t dimension_of(std::uint32_t link) const;
    std::uint32_t lane_size(std::uint32_t dimension) const { return parts_[dimension].lane_size; }
    std::uint32_t first_link(std::uint32_t dimension) const { return parts_[dimension].first_link; }
    // "5" for rank 5, "switch1.0" for the switch of row 0 of dimension 1.
    std::string node_name(std::uint32_t node) const;
    // "ring of 8 (50GiB/s, 500 ns a link) x switch of 4 (…)".
    std::string describe() const;

  private:
    struct Part {
        DimensionSpec spec;
        std::uint32_t stride = 1;
        std::uint32_t rows = 1;
        std::uint32_t first_link = 0;
        std::uint32_t row_links = 0;
        std::uint32_t first_switch = 0;  // node
        std::uint32_t row_switches = 0;
        std::uint32_t lane_size = 1;
    };
    Hop hop_in(std::uint32_t dimension,
               std::uint32_t row,
               std::uint32_t node,
               std::uint32_t destination) const;
    std::uint32_t dimension_of_switch(std::uint32_t node) const;
    std::uint32_t row_of(std::uint32_t rank, std::uint32_t dimension) const;
    std::uint32_t node_in_row(std::uint32_t dimension,
                              std::uint32_t row,
                              std::uint32_t local_node) const;

    std::vector<Part> parts_;
    std::uint32_t ranks_ = 1;
    std::uint64_t links_ = 0;
    std::uint32_t nodes_ = 1;
    std::vector<std::uint32_t> coordinates_;
};

}  // namespace astra
