#include "astra/app/checked_network.h"

#include <algorithm>

#include "astra/core/event_queue.h"
#include "network/backend/backend.h"
#include "network/routing/failures.h"

namespace astra {

namespace {

void mark_read(const ConfigView& view) {
    if (view.is_map()) {
        for (const auto& [key, child] : view.entries()) {
            mark_read(child);
        }
    } else if (view.is_list()) {
        for (const ConfigView& item : view.items()) {
            mark_read(item);
        }
    }
}

}  // namespace

void pass_over_sections_but(const ConfigView& root,
                            std::initializer_list<std::string_view> wanted) {
    for (const auto& [key, section] : root.entries()) {
        if (std::find(wanted.begin(), wanted.end(), key) == wanted.end()) {
            mark_read(section);
        }
    }
}

Routing checked_routing(const ConfigView& network, const Topology& topology) {
    const BackendInfo& backend = read_backend(network);
    Routing routing = read_routing(network, topology, backend);
    EventQueue queue;
    backend.build(queue, routing, network);
    check_other_sections(backend, network);
    read_failures(network, topology);
    return routing;
}

}  // namespace astra
