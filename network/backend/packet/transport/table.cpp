#include <array>

#include "network/backend/packet/transport.h"

namespace astra::packet {

#define ASTRA_BUILTIN(name) extern const TransportInfo k##name##Transport;
#include "network/backend/packet/transport/builtins.def"
#undef ASTRA_BUILTIN

const Registry<TransportInfo>& transports() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##Transport,
#include "network/backend/packet/transport/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<TransportInfo> table("transport", entries);
    return table;
}

}  // namespace astra::packet
