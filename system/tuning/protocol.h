// Protocols: what writing messages into the peer's memory costs by one method or another, as NCCL's
// LL, LL128 and Simple differ. A collective runs with the one that is predicted to be the fastest
// for its algorithm and size (tuner.h).
#pragma once

#include <string>
#include <vector>

#include "astra/config/config_view.h"
#include "system/algorithms/algorithm.h"
#include "system/run/message_costs.h"

namespace astra {

struct Protocol {
    std::string name;
    // The algorithms that it serves alone; none: all that no protocol names.
    std::vector<const CollectiveAlgorithm*> algorithms;
    MessageCosts costs;
};

// system.protocols, a map by name; none without it. Throws ConfigError.
std::vector<Protocol> read_protocols(const ConfigView& system);

// Those that may carry the algorithm; none where there are no protocols.
std::vector<const Protocol*> protocols_of(const CollectiveAlgorithm& algorithm,
                                          const std::vector<Protocol>& protocols);

// With the share of the links that the algorithm's messages take. nullptr: no protocol.
MessageCosts message_costs(const CollectiveAlgorithm& algorithm,
                           const ProgramShape& shape,
                           const Protocol* protocol);

}  // namespace astra
