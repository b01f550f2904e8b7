#include "network/backend/backend.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "astra/config/registry_choice.h"
#include "astra/core/check.h"
#include "astra/core/text/nearest.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const BackendInfo k##name##Backend;
#include "network/backend/builtins.def"
#undef ASTRA_BUILTIN

Duration slowest_wire(const Path& path, Bytes size) {
    Duration slowest;
    for (const Path::Stretch& stretch : path.stretches) {
        slowest = std::max(slowest, transfer_time(size, stretch.rate));
    }
    return slowest;
}

Duration total_wire(const Path& path, Bytes size) {
    Duration total;
    for (const Path::Stretch& stretch : path.stretches) {
        total = total + stretch.links * transfer_time(size, stretch.rate);
    }
    return total;
}

void NetworkBackend::set_link(LinkId, bool) {
    ASTRA_CHECK(false, "a backend whose links may fail knows how");
}

void NetworkBackend::sample(std::vector<LinkSample>&) {
    ASTRA_CHECK(false, "a backend whose links are shared knows what they hold");
}

const BackendInfo& read_backend(const ConfigView& network) {
    return choose(network, "backend", "flow", backends());
}

std::string backends_that(bool BackendInfo::*can) {
    std::vector<std::string> names;
    for (const BackendInfo* backend : backends()) {
        if (backend->*can) {
            names.emplace_back(backend->name);
        }
    }
    return joined(names, " or ");
}

Routing read_routing(const ConfigView& network,
                     const Topology& topology,
                     const BackendInfo& backend) {
    return read_routing(
        network,
        topology,
        backend.usual_routing(network),
        backend.can_split ? "" : "the backend " + backends_that(&BackendInfo::can_split));
}

void check_other_sections(const BackendInfo& chosen, const ConfigView& network) {
    for (const BackendInfo* backend : backends()) {
        if (backend != &chosen && backend->check != nullptr && network.has(backend->name)) {
            backend->check(network);
        }
    }
}

void warn_of_idle_section(const ConfigView& section, const std::string& why, Warnings& warnings) {
    const std::vector<std::string> paths = section.written_paths();
    if (!paths.empty()) {
        warnings.add(joined(paths, " and ") + ": no effect: " + why);
    }
}

void warn_of_idle_keys(const BackendInfo& chosen, const ConfigView& network, Warnings& warnings) {
    for (const BackendInfo* backend : backends()) {
        if (backend != &chosen && network.has(backend->name)) {
            warn_of_idle_section(
                network.at(backend->name), "the backend is " + std::string(chosen.name), warnings);
        }
    }
    if (chosen.warn != nullptr) {
        chosen.warn(network, warnings);
    }
}

const Registry<BackendInfo>& backends() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##Backend,
#include "network/backend/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<BackendInfo> table("backend", entries);
    return table;
}

}  // namespace astra
