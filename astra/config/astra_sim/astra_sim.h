// ASTRA-sim 2.x's input files, translated into a study (see docs/study.md), so that there is one
// reader of every setting behind both.
#pragma once

#include <optional>
#include <string>

#include "astra/config/config_tree.h"
#include "astra/core/warnings.h"

namespace astra {

// The options of `astra run` in ASTRA-sim's form. File names are relative to the working folder.
struct AstraSimOptions {
    std::string workload_prefix;
    std::string system_file;
    std::string network_file;
    std::string memory_file;  // "" = no memory expansion
    std::string group_file;   // "" or a text with "empty" in it = none
    std::optional<std::uint32_t> queues_per_dimension;
    std::optional<double> injection_scale;  // multiplies endpoint-delay
    std::optional<bool> rendezvous;
    std::string network_unit = "GiB";  // what a bare bandwidth of the network file means: GiB or GB
};

// Throws ConfigError; keys that ASTRA-sim accepts and ignores are warnings.
ConfigTree translate_astra_sim(const AstraSimOptions& options, Warnings& warnings);

}  // namespace astra
