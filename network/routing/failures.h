// Links that fail, and come back, while the simulation runs: network.failures.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/config/config_view.h"
#include "network/topology/topology.h"

namespace astra {

struct LinkChange {
    SimTime at;
    LinkId link{};
    bool up = false;
};

// The changes by time, then in the order of the study. Throws ConfigError.
std::vector<LinkChange> read_failures(const ConfigView& network, const Topology& topology);

}  // namespace astra
