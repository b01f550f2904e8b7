// YAML and JSON text to nodes.
#pragma once

#include <memory>
#include <string_view>

#include "astra/config/config_node.h"

namespace astra {

// A root of kind Null if the text holds nothing. Throws ConfigError.
std::unique_ptr<ConfigNode> parse_config(std::string_view text,
                                         const std::shared_ptr<const ConfigSource>& source);

}  // namespace astra
