// The parts of translate_astra_sim, one for each input file. All throw ConfigError.
#pragma once

#include <string>
#include <string_view>

#include "astra/config/config_tree.h"
#include "astra/config/config_view.h"
#include "astra/core/warnings.h"

namespace astra {

// The exact text of a bare number at `value`, that is not negative, followed by `unit`.
std::string with_unit(const ConfigView& value, std::string_view unit);

// The same for a bandwidth, which must be at least one bit a second.
std::string bandwidth_with_unit(const ConfigView& value, std::string_view unit);

// The same for a time.
std::string time_with_unit(const ConfigView& value, std::string_view unit);

// `unit` is GiB or GB. Returns the number of dimensions.
std::size_t translate_network(const ConfigView& file, std::string_view unit, ConfigTree& study);

void translate_system(const ConfigView& file,
                      std::size_t dimensions,
                      ConfigTree& study,
                      Warnings& warnings);

void translate_memory(const ConfigView& file, ConfigTree& study, Warnings& warnings);

}  // namespace astra
