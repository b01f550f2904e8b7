// An oversubscription that a study asks for and that its fabric does not have.
#pragma once

#include <string>
#include <vector>

#include "astra/config/config_tree.h"
#include "network/topology/topology.h"

namespace astra {

// The keys network.dimensions.K.oversubscription of a study without which its topology would be the
// same, each as a sentence.
std::vector<std::string> idle_oversubscriptions(const ConfigTree& study, const Topology& topology);

}  // namespace astra
