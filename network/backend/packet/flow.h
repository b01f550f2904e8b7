// Flows: messages under way, and the connections that they belong to. The number of a flow is used
// again when the message has been delivered, all its packets are gone and nothing waits to send for
// it; that of a connection when its last flow is gone, if nothing has to be remembered of it.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/callback.h"
#include "network/backend/backend.h"
#include "network/backend/packet/packet.h"

namespace astra::packet {

struct Flow {
    Callback delivered;
    Callback sent;                   // empty: nobody asks, or it has been run
    std::uint64_t hash = 0;          // of the pair of ranks
    std::uint64_t reverse_hash = 0;  // of the pair, seen from the destination
    ChannelKey channel{};
    std::uint32_t connection = kNone;
    std::uint32_t behind = kNone;  // the next flow of the connection
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    std::uint32_t packets = 0;       // at least one
    std::uint32_t last_bytes = 0;    // payload of the last packet; the others are full
    std::uint32_t sent_packets = 0;  // different packets that have been sent
    std::uint32_t made_packets = 0;  // … ever: more than those where the sender has gone back
    std::uint32_t received = 0;      // different packets at the destination
    std::uint32_t holds = 0;         // packets, timers and feeders in rings that name the flow
    std::uint32_t first_feeder = kNone;
    std::uint32_t first_resend = kNone;  // sequences to send again, first in first out
    std::uint32_t last_resend = kNone;
    bool out_of_turn = false;  // its next place among the flows of its rank is a random one
    bool live = false;         // its packets may leave
    bool complete = false;     // its packets have arrived

    bool all_sent() const { return sent_packets == packets && first_resend == kNone; }
};

struct Connection {
    std::uint32_t source = 0;
    std::uint32_t destination = 0;
    ChannelKey channel{};
    std::uint32_t first = kNone;  // the flows that are not delivered, in their order
    std::uint32_t last = kNone;
    std::uint32_t sending = kNone;  // the one whose packets leave, until each has left once
    std::uint32_t flows = 0;        // that have not been freed
    std::uint32_t watchers = 0;     // flows that have not left and tell when they have
    bool watched = false;           // an event is to look when the one that is sending has left
    // Flows before the one that is sending with packets to be sent again, oldest first.
    std::vector<std::uint32_t> again;
};

// What a flow is at one of the links that it may start on.
struct Feeder {
    enum class State : std::uint8_t { Idle, Ring, Pacer };

    std::uint32_t flow = kNone;
    std::uint32_t link = kNone;
    std::uint32_t next = kNone;     // in the ring
    std::uint32_t sibling = kNone;  // the next feeder of the flow
    State state = State::Idle;
    bool watched = false;  // the link tells of every packet
};

// Things of one kind by index, with those that were freed used again. References are valid until
// the next allocate().
template <class T>
class Arena {
  public:
    T& operator[](std::uint32_t id) { return items_[id]; }
    const T& operator[](std::uint32_t id) const { return items_[id]; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(items_.size()); }

    // A fresh T.
    std::uint32_t allocate() {
        if (free_.empty()) {
            items_.emplace_back();
            return size() - 1;
        }
        const std::uint32_t id = free_.back();
        free_.pop_back();
        items_[id] = T{};
        return id;
    }
    void free(std::uint32_t id) { free_.push_back(id); }

  private:
    std::vector<T> items_;
    std::vector<std::uint32_t> free_;
};

}  // namespace astra::packet
