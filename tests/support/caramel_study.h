// The studies of inputs/studies/caramel, with overrides.
#pragma once

#include <string>
#include <vector>

#include "astra/config/config_tree.h"
#include "astra/simulation/run_result.h"
#include "astra/simulation/simulation.h"
#include "tests/support/source_folder.h"

namespace astra::test {

// `name` without .yml; `settings` as of --set.
inline RunResult run_caramel(const std::string& name, const std::vector<std::string>& settings) {
    ConfigTree study = ConfigTree::parse_file(
        source_file("inputs/studies/caramel/" + name + ".yml"), FilePurpose::Study);
    for (const std::string& setting : settings) {
        study.set(setting);
    }
    Simulation simulation(Study(std::move(study)));
    simulation.run({});
    return simulation.result();
}

inline double milliseconds(Duration time) {
    return static_cast<double>(time.ps) * 1e-9;
}

inline double steady_ms(const std::string& name, const std::vector<std::string>& settings) {
    return milliseconds(run_caramel(name, settings).training.at(0).steady);
}

}  // namespace astra::test
