// Collectives and their algorithms as options name them.
#pragma once

#include <string>
#include <vector>

#include "astra/config/config_tree.h"
#include "astra/core/types.h"

namespace astra {

// "all_reduce" and so on. Throws ConfigError that names the option and the nearest kind.
CollectiveKind kind_named(const std::string& option, const std::string& name);

// The algorithms and the synthesisers of the tables, without those over all ranks as in one
// dimension, and without auto and measured.
std::vector<std::string> plain_algorithm_names();

// Whether an algorithm is the name of a file, with a dot or a slash: no other is called like this.
bool is_program_file(const std::string& algorithm);

// Lets a study run a kind by an algorithm, or by a file.
void choose_algorithm(ConfigTree& study, CollectiveKind kind, const std::string& algorithm);

}  // namespace astra
