// Small fabrics under every network model, and every algorithm of a kind of collective: what
// properties of collectives are tested over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "system/algorithms/algorithm.h"
#include "system/synthesis/synthesiser.h"
#include "tests/support/network_models.h"

namespace astra::test {

struct Fabric {
    const char* name;
    const char* dimensions;
    std::uint32_t ranks;
    const char* system = "";
};

inline const std::vector<Fabric>& fabrics() {
    static const std::vector<Fabric> all = {
        {"ring", "{topology: ring, ranks: 8, bandwidth: 50GB/s, latency: 500ns}", 8},
        {"switch", "{topology: switch, ranks: 8, bandwidth: 50GB/s, latency: 500ns}", 8},
        {"leaf_spine",
         "{topology: leaf_spine, ranks: 8, hosts_per_leaf: 4, spines: 4, bandwidth: 50GB/s, "
         "latency: 500ns}",
         8},
        {"two_dimensions",
         "{topology: ring, ranks: 4, bandwidth: 100GB/s, latency: 300ns}, {topology: switch, "
         "ranks: 4, bandwidth: 50GB/s, latency: 500ns}",
         16,
         "chunks: 4, active_chunks: 4, "}};
    return all;
}

// Names as a study has them, with numbers where an algorithm takes some.
inline std::vector<std::string> algorithms(CollectiveKind kind) {
    std::vector<std::string> names;
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        if (std::find(algorithm->kinds.begin(), algorithm->kinds.end(), kind) ==
            algorithm->kinds.end()) {
            continue;
        }
        const ProgramShape shape{kind, 8, 0, 0};
        const std::vector<std::string> trials = algorithm->trials == nullptr
                                                    ? std::vector{std::string(algorithm->name)}
                                                    : algorithm->trials(shape);
        names.insert(names.end(), trials.begin(), trials.end());
    }
    for (const Synthesiser* synthesiser : synthesisers()) {
        names.emplace_back(synthesiser->name);
    }
    return names;
}

struct Case {
    NetworkModel model;
    Fabric fabric;
    std::string name() const { return model.name() + "_" + fabric.name; }
};

inline std::vector<Case> cases() {
    std::vector<Case> all;
    for (const NetworkModel& model : network_models()) {
        for (const Fabric& fabric : fabrics()) {
            all.push_back({model, fabric});
        }
    }
    return all;
}

}  // namespace astra::test
