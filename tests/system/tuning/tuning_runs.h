// Collectives alone on an empty network, for tests of predictions and of choices by size.
#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "network/backend/backend.h"
#include "tests/support/experiment.h"

namespace astra::test {

struct TunedNetwork {
    std::string name;
    std::string backend;
    std::string dimensions;  // of the study

    std::string yaml() const {
        return fmt::format("network: {{backend: {}, dimensions: [{}]}}\n", backend, dimensions);
    }
};

// Single dimensions, and several that a flat algorithm crosses, on every backend whose times are
// predicted from its own law.
inline std::vector<TunedNetwork> tuned_networks() {
    const std::string link = "bandwidth: 100GB/s, latency: 500ns}";
    std::vector<TunedNetwork> networks;
    for (const BackendInfo* info : backends()) {
        if (info->predicted_by != nullptr) {
            continue;
        }
        const std::string backend(info->name);
        networks.push_back({"ring8", backend, "{topology: ring, ranks: 8, " + link});
        networks.push_back({"ring12", backend, "{topology: ring, ranks: 12, " + link});
        networks.push_back({"switch8", backend, "{topology: switch, ranks: 8, " + link});
        networks.push_back({"switch24", backend, "{topology: switch, ranks: 24, " + link});
        networks.push_back({"full8", backend, "{topology: fully_connected, ranks: 8, " + link});
        networks.push_back({"nodes",
                            backend,
                            "{topology: switch, ranks: 8, bandwidth: 300GB/s, latency: 300ns}, "
                            "{topology: switch, ranks: 2, bandwidth: 50GB/s, latency: 2us}"});
    }
    return networks;
}

inline std::string name_of(const testing::TestParamInfo<TunedNetwork>& test) {
    return test.param.backend + "_" + test.param.name;
}

// "oneRing" for "ring".
inline std::string flat_name(const std::string& name) {
    std::string flat = name;
    flat[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(flat[0])));
    return "one" + flat;
}

// The endpoint delay is 10 ns, a reduction three accesses of a memory of 1 TB/s. `algorithm` is
// what stands behind the kind in system.collectives, `system` more of that section.
inline RunResult run_tuned(const TunedNetwork& network,
                           const std::string& algorithm,
                           CollectiveKind kind,
                           std::uint64_t bytes,
                           const std::string& system = "") {
    return run_study(fmt::format(
        "system: {{endpoint_delay: 10ns, local_memory_bandwidth: 1000GB/s, collectives: {{{0}: "
        "{1}}}{2}}}\n{3}workload: {{all_gather_size: total, generate: {{kind: collective, "
        "collective: {0}, bytes: {4}B}}}}\n",
        astra::name_of(kind),
        algorithm,
        system,
        network.yaml(),
        bytes));
}

}  // namespace astra::test
