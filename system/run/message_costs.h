// What a message of a program costs beside the links that it crosses: the sum of a protocol
// (protocol.h) and of what the network does for an algorithm (CollectiveAlgorithm::in_switch).
#pragma once

#include <cstdint>

#include "astra/core/types.h"

namespace astra {

struct MessageCosts {
    Duration startup;  // of each member, once, before its first message
    Duration latency;  // of each message, before it leaves
    // So many bytes cross the links for so many bytes of data; rounded up.
    std::uint64_t wire_bytes = 1;
    std::uint64_t data_bytes = 1;
    // At which a member hands its messages to the network, one after the other; 0 = at once.
    Bandwidth copying;
    bool reduces = true;  // false: what is received has been reduced on the way

    Bytes on_wire(Bytes data) const {
        if (wire_bytes == data_bytes) {
            return data;
        }
        const unsigned __int128 scaled =
            (static_cast<unsigned __int128>(data.count) * wire_bytes + data_bytes - 1) / data_bytes;
        return {scaled > kMaxPs ? kMaxPs : static_cast<std::uint64_t>(scaled)};
    }
};

}  // namespace astra
