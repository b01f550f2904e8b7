// The network of a study, for commands that look at it without running anything.
#pragma once

#include <initializer_list>
#include <string_view>

#include "astra/config/config_view.h"
#include "network/routing/routing.h"

namespace astra {

// Sections of a study that are not among `wanted` may hold anything.
void pass_over_sections_but(const ConfigView& root, std::initializer_list<std::string_view> wanted);

// Reads every key of `network` as a run reads them. The topology outlives the routing. Throws
// ConfigError.
Routing checked_routing(const ConfigView& network, const Topology& topology);

}  // namespace astra
