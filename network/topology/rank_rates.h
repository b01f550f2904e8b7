// What the links of each rank carry together, whatever the routing.
#pragma once

#include <cstdint>
#include <vector>

#include "network/topology/topology.h"

namespace astra {

// Bits a second, by rank; saturating.
struct RankRates {
    explicit RankRates(const Topology& topology) : out(topology.ranks()), in(topology.ranks()) {
        for (std::uint32_t link = 0; link < topology.links(); ++link) {
            const LinkEnds ends = topology.link_ends(link);
            const std::uint64_t carried = topology.link(link).bandwidth.bits_per_s;
            if (ends.from < topology.ranks()) {
                out[ends.from] = saturating_add(out[ends.from], carried);
            }
            if (ends.to < topology.ranks()) {
                in[ends.to] = saturating_add(in[ends.to], carried);
            }
        }
    }

    std::vector<std::uint64_t> out;
    std::vector<std::uint64_t> in;
};

}  // namespace astra
