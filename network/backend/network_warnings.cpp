#include "network/backend/network_warnings.h"

#include <string>

#include "network/routing/uneven_ties.h"
#include "network/topology/idle_oversubscription.h"

namespace astra {

void warn_of_network(const ConfigTree& study,
                     const Routing& routing,
                     const BackendInfo& backend,
                     Warnings& warnings) {
    warn_of_idle_keys(backend, study.root().at("network"), warnings);
    for (const std::string& text : idle_oversubscriptions(study, routing.topology())) {
        warnings.add(text);
    }
    if (routing.policy() == RoutePolicy::Adaptive) {
        return;
    }
    for (const std::string& text : describe_uneven_ties(routing.topology())) {
        warnings.add(text);
    }
}

}  // namespace astra
