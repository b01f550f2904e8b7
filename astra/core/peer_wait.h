// For whom an op waited that communicates: a message that was not sent, a collective that another
// rank had not come to.
#pragma once

#include "astra/core/types.h"

namespace astra {

// That a rank came to a place where others need it.
struct PeerArrival {
    SimTime at;
    RankId rank{};
};

struct PeerWait {
    SimTime since;     // the op began
    PeerArrival last;  // of all on whom its end depended; before `since`: it waited for nobody
};

// The same of an op that has not ended, and of which rank.
struct UnfinishedWait {
    RankId rank{};
    PeerWait wait;
};

}  // namespace astra
