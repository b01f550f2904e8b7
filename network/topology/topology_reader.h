// A topology from a study.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/config/config_view.h"
#include "network/topology/topology.h"

namespace astra {

// Reads network.dimensions, network.links that differ from the rest, network.bandwidth_noise and
// its seed. Throws ConfigError.
Topology read_topology(const ConfigView& network);

// One entry of network.dimensions, whose `topology` is that kind. Throws ConfigError: at `ranks`
// where the kind refuses so many.
Topology::PhysicalDimension read_dimension(const ConfigView& item, const DimensionInfo& kind);

// The links from node `from` to node `to` of a map with those keys, and back again unless it says
// `both: no`. Throws ConfigError.
std::vector<LinkId> links_named(const Topology& topology, const ConfigView& item);

}  // namespace astra
