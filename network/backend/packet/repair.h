// What becomes of packets that are lost: their timeouts, and what flows are to send again.
#pragma once

#include <cstdint>

#include "astra/core/event_queue.h"
#include "astra/core/types.h"
#include "network/backend/packet/flow.h"
#include "network/backend/packet/packet.h"

namespace astra::packet {

class Forwarding;
class Hosts;
class Links;
class Transport;

class Repair {
  public:
    // `timeout` passes from a loss to the repair that nothing else triggers. The references
    // outlive it; the last three are only used once messages move.
    Repair(EventQueue& queue, Duration timeout, Links& links, Forwarding& forwarding, Hosts& hosts);

    void attach(Transport& transport) { transport_ = &transport; }

    // The packet is lost now, and Transport::time_out follows; a control packet is sent again
    // by itself after the timeout, but a notification of congestion is not.
    void lose(std::uint32_t packet);
    // Puts a packet, to be sent again before new ones, on the flow's list.
    void send_again(std::uint32_t flow, std::uint32_t sequence);
    // The flow's next packet in order: one to be sent again, or a new one. Requires
    // !Flow::all_sent().
    std::uint32_t take_sequence(Flow& flow);

  private:
    struct Resend {
        std::uint32_t sequence = 0;
        std::uint32_t next = kNone;
    };

    void on_timeout(std::uint64_t packet);

    EventQueue& queue_;
    const Duration timeout_;
    Links& links_;
    Forwarding& forwarding_;
    Hosts& hosts_;
    Transport* transport_ = nullptr;
    Arena<Resend> resends_;
};

}  // namespace astra::packet
