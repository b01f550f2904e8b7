#pragma once

#include "astra/core/types.h"

namespace astra {

// What a receiver sends to ask for a message under rendezvous, as in ASTRA-sim.
inline constexpr Bytes kRequestBytes{8192};

}  // namespace astra
