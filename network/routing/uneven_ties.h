// Paths of equal length and very different bandwidth: routing spreads traffic over them alike.
#pragma once

#include <optional>
#include <string>

#include "network/topology/topology.h"

namespace astra {

struct UnevenTie {
    // Ports of the dimension, of all such pairs one with the fewest links between them.
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::uint32_t links = 0;  // between them
    // Two links of one node, and what the widest path over each carries.
    std::uint32_t wide_link = 0;
    std::uint32_t narrow_link = 0;
    Bandwidth wide;
    Bandwidth narrow;
};

// Where one carries at least twice what the other does. Looks at all destinations, or, in large
// fabrics, at some that are evenly chosen.
std::optional<UnevenTie> nearest_uneven_tie(const Dimension& dimension);

// Of the dimensions whose links a file lists; each is a sentence.
std::vector<std::string> describe_uneven_ties(const Topology& topology);

}  // namespace astra
