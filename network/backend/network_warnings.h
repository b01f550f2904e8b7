// What is worth a word about the section `network` of a study that is read without an error.
#pragma once

#include "astra/config/config_tree.h"
#include "astra/core/warnings.h"
#include "network/backend/backend.h"
#include "network/routing/routing.h"

namespace astra {

// Keys without effect, an oversubscription that the fabric does not have, and ties of very
// different paths under a policy that spreads traffic over them alike. Requires that the section is
// valid.
void warn_of_network(const ConfigTree& study,
                     const Routing& routing,
                     const BackendInfo& backend,
                     Warnings& warnings);

}  // namespace astra
