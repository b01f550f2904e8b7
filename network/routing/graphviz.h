// A drawing of a fabric in the language of Graphviz.
#pragma once

#include <string>

#include "network/routing/routing.h"

namespace astra {

// Ranks are boxes and switches ellipses, by their names. Opposite links of equal bandwidth and
// latency are one edge with two heads; parallel ones are merged and counted: "2 x 50 GB/s, 1 us".
// Links that are down are dashed. O(links · log links).
std::string graphviz(const Routing& routing);

}  // namespace astra
