#include "astra/app/collective_names.h"

#include <algorithm>

#include <fmt/format.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"
#include "astra/core/kind_names.h"
#include "astra/core/text/nearest.h"
#include "system/algorithms/algorithm.h"
#include "system/synthesis/synthesiser.h"

namespace astra {

CollectiveKind kind_named(const std::string& option, const std::string& name) {
    const std::vector<std::string> names = collective_kind_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
        throw ConfigError(fmt::format("{}: no kind '{}'{}", option, name, suggestion(name, names)));
    }
    return static_cast<CollectiveKind>(found - names.begin());
}

std::vector<std::string> plain_algorithm_names() {
    std::vector<std::string> names = collective_algorithms().names();
    const std::vector<std::string> synthesised = synthesisers().names();
    names.insert(names.end(), synthesised.begin(), synthesised.end());
    return names;
}

bool is_program_file(const std::string& algorithm) {
    return algorithm.find_first_of("./") != std::string::npos;
}

void choose_algorithm(ConfigTree& study, CollectiveKind kind, const std::string& algorithm) {
    std::string key = fmt::format("system.collectives.{}", name_of(kind));
    if (is_program_file(algorithm)) {
        // Instead of whatever the machine names there.
        study.set(key + "={}");
        key += ".file";
    }
    study.put(key, algorithm, ConfigTree::empty_map("--algorithm").root());
}

}  // namespace astra
