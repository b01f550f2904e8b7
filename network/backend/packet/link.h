// The state of a link and of the output queue before it.
#pragma once

#include <cstdint>

#include "astra/core/transfer_clock.h"
#include "network/backend/packet/packet.h"

namespace astra::packet {

// 104 bytes. A link is brought up to the present only when somebody looks at it (Links::advance).
struct Link {
    std::uint64_t busy_until_ps = 0;  // the last packet that started will have left
    std::uint64_t armed_ps = kNever;  // its next event in the global queue
    std::uint64_t wire_bytes = 0;     // of the packets that started
    std::uint64_t payload_bytes = 0;  // without headers and control packets
    std::uint64_t busy_ps = 0;
    std::uint64_t queued_bytes = 0;  // of data that waits
    std::uint64_t peak_bytes = 0;
    PacketList flight;   // started, not yet at the end
    PacketList data;     // waiting; forwarded packets only, see `ring`
    PacketList control;  // waiting
    std::uint32_t control_bytes = 0;
    std::uint32_t ring = kNone;   // the last feeder of the ring of flows that the rank sends
    std::uint32_t pacer = kNone;  // its flows that wait for their time
    std::uint32_t link_class = 0;
    std::uint32_t to = 0;  // node
    bool paused = false;   // for data
    bool up = true;
    bool forwarded_turn = true;    // a packet that is forwarded goes before one of the rank
    std::uint8_t control_run = 0;  // control packets since the last data packet
};
static_assert(sizeof(Link) == 104);

struct LinkCounters {
    std::uint64_t paused_ps = 0;             // in pauses that are over
    std::uint64_t paused_since_ps = kNever;  // kNever: it is not paused
    std::uint32_t pauses = 0;
    std::uint32_t marks = 0;
    std::uint32_t trims = 0;
    std::uint32_t drops = 0;
    std::uint32_t repeats = 0;

    std::uint64_t paused_until(std::uint64_t now_ps) const {
        return paused_ps + (paused_since_ps == kNever ? 0 : now_ps - paused_since_ps);
    }
};

// The queue before a link since it was looked at before.
struct QueueInterval {
    unsigned __int128 byte_ps = 0;  // the sum of what waited over time, up to `until_ps`
    std::uint64_t until_ps = 0;
    std::uint64_t begin_ps = 0;
    std::uint64_t most_bytes = 0;
    LinkCounters before{};  // the counters at the beginning
    std::uint64_t paused_before_ps = 0;
};

// What an output port does with data that has to wait. All sizes are bytes that wait, without the
// packet on the wire.
struct PortLimits {
    enum class WhenFull : std::uint8_t { Keep, Drop, Trim };

    WhenFull when_full = WhenFull::Keep;
    std::uint64_t buffer_bytes = kNever;
    std::uint64_t control_bytes = kNever;  // beyond, control packets are dropped
    // Random early detection: never marks up to the least, always from the most, and in between
    // with a probability that grows from 0 to most_mark / 2^32.
    std::uint64_t mark_least_bytes = kNever;
    std::uint64_t mark_most_bytes = kNever;
    std::uint64_t most_mark = 0;
};

// What links of equal rate and latency share.
struct LinkClass {
    Bandwidth rate;
    std::uint64_t latency_ps = 0;
    std::uint32_t full_bytes = 0;  // the largest packet
    std::uint64_t full_ps = 0;     // its time on the wire
    std::uint32_t control_bytes = 0;
    std::uint64_t control_ps = 0;
    PortLimits limits;
    TransferClock clock;

    std::uint64_t wire_ps(std::uint32_t bytes) {
        if (bytes == full_bytes) {
            return full_ps;
        }
        return bytes == control_bytes ? control_ps : clock({bytes}).ps;
    }
};

}  // namespace astra::packet
