// The bytes that flows have left on links.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "astra/core/records.h"
#include "network/backend/backend.h"
#include "network/backend/flow/flow_route.h"
#include "network/backend/flow/max_min.h"

namespace astra {

class CarriedBytes {
  public:
    // The topology outlives it.
    explicit CarriedBytes(const Topology& topology) : topology_(&topology) {}

    // Books work that was done over those links, each link its share. O(links) the first time.
    void add(std::span<const LinkShare> shares, MaxMin::Work work);

    // Every link, in whole bytes that have passed in full.
    void sample(std::vector<LinkSample>& samples) const;
    // Links that carried something, in bytes that have passed at least in part.
    std::vector<LinkRecord> records() const;

  private:
    const Topology* topology_;
    std::vector<double> bytes_;  // a link; empty before the first
};

}  // namespace astra
