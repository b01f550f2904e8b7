// What a message of a program costs beside the links that it crosses: at the ranks that send and
// take it, and as the sum of a protocol (protocol.h) and of what the network does for an algorithm
// (CollectiveAlgorithm::in_switch).
#pragma once

#include <cstdint>

#include "astra/core/types.h"
#include "system/program/program.h"

namespace astra {

class ConfigView;

// What a message and its reduction cost at the ranks.
struct EndpointCosts {
    Duration delay;           // before a member's first message, and for each one received
    Bandwidth memory;         // a reduction is two reads and a write; 0 = free
    bool rendezvous = false;  // a receiver asks for each message before it is sent
    // Whether what a rank sends on a channel of a collective leaves one message after the other, in
    // the order of its program, whatever links they go over.
    bool sends_in_order = true;
    // Messages of a connection of a collective that its receiver has not taken, at most; 0: any
    // number. As many as the slots of an NCCL channel (NCCL_STEPS).
    std::uint32_t run_ahead = kUsualRunAhead;
    // Whether a SEND is done for its rank when it has arrived, not when it has left.
    bool sends_end_on_arrival = false;

    // system.endpoint_delay times .injection_scale, .local_memory_bandwidth, .rendezvous,
    // .sends_in_order, .run_ahead and .sends_end. Throws ConfigError.
    static EndpointCosts from_config(const ConfigView& system);
};

struct MessageCosts {
    Duration startup;  // a member pays it once, before its first message
    Duration latency;  // each message pays it before it leaves
    // So many bytes cross the links for so many bytes of data; rounded up.
    std::uint64_t wire_bytes = 1;
    std::uint64_t data_bytes = 1;
    // The rate at which a member hands its messages to the network, one after the other; 0 = at
    // once.
    Bandwidth copying;
    bool reduces = true;  // false: what is received has been reduced on its path

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
