// A node of the configuration as one value. All throw ConfigError at the node: what is wrong, and
// what is expected.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "astra/config/config_node.h"
#include "astra/core/types.h"

namespace astra {

std::string as_string(ConfigNode& node);
bool as_bool(ConfigNode& node);
double as_number(ConfigNode& node);
std::uint64_t as_integer(ConfigNode& node, std::uint64_t least, std::uint64_t most);
Duration as_duration(ConfigNode& node);
Bytes as_bytes(ConfigNode& node);
Bandwidth as_bandwidth(ConfigNode& node);
double as_rate(ConfigNode& node);
std::string as_choice(ConfigNode& node, std::span<const std::string> choices);
std::string as_file_name(ConfigNode& node);

}  // namespace astra
