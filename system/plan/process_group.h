// A group of ranks that run collectives together, and how it lies in the topology.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "astra/core/types.h"
#include "network/topology/topology.h"

namespace astra {

// A group that is a product of subsets of the topology's coordinates (all of one dimension and two
// of the next, say), listed in ascending order, runs its collectives dimension by dimension over
// these subsets, as in ASTRA-sim; any other runs them flat, as one ring, tree … over its ranks in
// the order in which they are listed.
class ProcessGroup {
  public:
    // One dimension of the group: position = … + coordinate · stride + …
    struct Dimension {
        std::uint32_t size = 1;  // of the subset
        std::uint32_t stride = 1;
        std::uint32_t of_topology = 0;  // which of the topology's it is

        // The ranks that differ in this dimension alone are its subgroups. Where a position lies:
        // in which subgroup, as which member of it, and back.
        std::uint32_t subgroup(std::uint32_t position) const {
            return position / (stride * size) * stride + position % stride;
        }
        std::uint32_t member(std::uint32_t position) const { return position / stride % size; }
        std::uint32_t position(std::uint32_t in_subgroup, std::uint32_t as_member) const {
            return in_subgroup / stride * (stride * size) + as_member * stride +
                   in_subgroup % stride;
        }
    };

    // `ranks` of the fabric, not empty, without repeats.
    ProcessGroup(GroupId id,
                 std::string name,
                 std::vector<std::uint32_t> ranks,
                 const Topology& topology);

    GroupId id() const { return id_; }
    const std::string& name() const { return name_; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(ranks_.size()); }
    std::uint32_t rank(std::uint32_t position) const { return ranks_[position]; }
    const std::vector<std::uint32_t>& ranks() const { return ranks_; }
    // From each rank to the next; 0 if that is not always the same, or there is no next one.
    std::uint32_t stride() const { return stride_; }
    bool is_grid() const { return is_grid_; }
    // Ascending; none for a group of one. A flat group has one.
    const std::vector<Dimension>& dimensions() const { return dimensions_; }
    // Dimensions of the topology in which ranks of the group differ.
    const std::vector<std::uint32_t>& spanned() const { return spanned_; }
    // All ranks as one dimension, as flat algorithms see the group.
    Dimension flat() const { return {size(), 1, spanned_.empty() ? 0 : spanned_.front()}; }

  private:
    GroupId id_;
    std::string name_;
    std::vector<std::uint32_t> ranks_;
    std::uint32_t stride_ = 0;
    std::vector<Dimension> dimensions_;
    std::vector<std::uint32_t> spanned_;
    bool is_grid_ = true;
};

}  // namespace astra
