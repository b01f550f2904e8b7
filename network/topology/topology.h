// The fabric: a product of physical dimensions over all ranks. It does not change once it is
// routed; routing.h finds the paths through it.
//
// Rank r has in physical dimension k the position (r / (n_0 · … · n_{k-1})) mod n_k: that of
// dimension 0 varies fastest. The ranks that differ in physical dimension k alone form a row, which
// has the links that its Dimension says. A collective sees dimensions: each physical one is one,
// unless it gives itself another shape (rail_optimised is two). topology_reader.h makes a topology
// from a study.
//
// Nodes: ranks 0 … ranks()-1, then the switches. Links: 0 … links()-1, directed; loops over them
// and arrays by link count them, what is told of a single one has its LinkId.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "astra/core/types.h"
#include "network/topology/dimension.h"

namespace astra {

// What a link has instead of what its dimension gives it.
struct LinkOverride {
    std::optional<Bandwidth> bandwidth;
    std::optional<Duration> latency;
    bool down = false;  // from the start
};

class Topology {
  public:
    struct PhysicalDimension {
        std::string kind;
        std::unique_ptr<const Dimension> dimension;
        std::string bandwidth_text;  // as configured, for people; "" = made from its links
    };
    explicit Topology(std::vector<PhysicalDimension> dimensions);

    std::uint32_t ranks() const { return ranks_; }
    std::uint32_t nodes() const { return nodes_; }
    std::uint32_t links() const { return links_; }

    // --- what collectives see ---
    std::uint32_t dimensions() const { return static_cast<std::uint32_t>(shape_.size()); }
    std::uint32_t ports(std::uint32_t dimension) const { return shape_[dimension].ports; }
    std::uint32_t coordinate(std::uint32_t rank, std::uint32_t dimension) const {
        return rank / shape_[dimension].stride % shape_[dimension].ports;
    }

    // --- links ---
    LinkEnds link_ends(std::uint32_t link) const;
    // Links of equal bandwidth and latency are of one class.
    std::uint32_t link_class(std::uint32_t link) const;
    std::span<const LinkProperties> classes() const { return classes_; }
    std::uint32_t link_weight(std::uint32_t link) const;  // Dimension::weight
    LinkProperties link(std::uint32_t link) const { return classes_[link_class(link)]; }
    // The links from a node to another. Looks at every link of at most one row.
    std::vector<LinkId> links_between(std::uint32_t from, std::uint32_t to) const;
    // Links that are down from the start; ascending.
    std::span<const LinkId> down_links() const { return down_; }
    // Makes a link differ from the others, before anything is routed.
    void change_link(LinkId link, const LinkOverride& change);

    // --- physical dimensions ---
    std::uint32_t physical_dimensions() const { return static_cast<std::uint32_t>(parts_.size()); }
    const Dimension& physical_dimension(std::uint32_t k) const {
        return *parts_[k].physical.dimension;
    }
    std::uint32_t first_link(std::uint32_t k) const { return parts_[k].first_link; }
    std::uint32_t first_link(std::uint32_t k, std::uint32_t row) const {
        return parts_[k].first_link + row * parts_[k].row_links;
    }
    std::uint32_t dimension_of_link(std::uint32_t link) const;
    // Whether all links of a physical dimension are of one class.
    bool uniform(std::uint32_t k) const { return parts_[k].classes.size() == 1; }
    // The links of a chain of a physical dimension; 1 where there are no runs.
    std::uint32_t chain_size(std::uint32_t k) const { return parts_[k].chain_size; }
    std::uint32_t position(std::uint32_t rank, std::uint32_t k) const {
        return positions_[std::size_t{rank} * parts_.size() + k];
    }
    std::uint32_t row_of(std::uint32_t rank, std::uint32_t k) const;
    struct LocalNode {
        std::uint32_t dimension = 0;  // physical
        std::uint32_t row = 0;
        std::uint32_t local = 0;  // node of the Dimension
    };
    LocalNode local_switch(std::uint32_t node) const;
    std::uint32_t node_in_row(std::uint32_t k, std::uint32_t row, std::uint32_t local) const;
    // Whether a node passes on what is for others.
    bool forwards(std::uint32_t node) const;

    std::uint32_t links_of(std::uint32_t k) const { return parts_[k].row_links * parts_[k].rows; }
    // Whether a file lists its links.
    bool is_from_file(std::uint32_t k) const;
    // "switch of 16".
    std::string describe_dimension(std::uint32_t k) const;

    // "5" for rank 5; a switch by its own name, followed by its physical dimension and row
    // where there are several: "leaf3", "switch1.0".
    std::string node_name(std::uint32_t node) const;
    // "ring of 8 (50GiB/s, 500 ns a link) x switch of 4 (…)".
    std::string describe() const;

  private:
    struct Part {
        PhysicalDimension physical;
        std::uint32_t ports = 1;
        std::uint32_t stride = 1;
        std::uint32_t rows = 1;
        std::uint32_t first_link = 0;
        std::uint32_t row_links = 0;
        std::uint32_t first_switch = 0;  // node
        std::uint32_t row_switches = 0;
        std::uint32_t chain_size = 1;
        // One class for all links, one for each link of a row, or one for each link of the
        // dimension.
        std::vector<std::uint32_t> classes;
    };
    struct LogicalDimension {
        std::uint32_t ports = 1;
        std::uint32_t stride = 1;
    };
    void number_parts();
    void find_classes(Part& part);
    std::uint32_t class_of(const LinkProperties& properties);
    std::optional<LocalNode> row_with(std::uint32_t from, std::uint32_t to) const;

    std::vector<Part> parts_;
    std::vector<LogicalDimension> shape_;
    std::uint32_t ranks_ = 1;
    std::uint32_t links_ = 0;
    std::uint32_t nodes_ = 1;
    std::vector<std::uint32_t> positions_;
    std::vector<LinkProperties> classes_;
    std::map<LinkProperties, std::uint32_t> class_numbers_;
    std::vector<LinkId> down_;
};

}  // namespace astra
