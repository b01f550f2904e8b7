// Which link a packet takes next, by the routing policy, and whether there is one.
#pragma once

#include <cstdint>
#include <span>

#include "astra/core/event_queue.h"
#include "network/backend/packet/flow.h"
#include "network/backend/packet/packet.h"
#include "network/routing/routing.h"

namespace astra::packet {

class Hosts;
class Links;

// What the path of a pair costs when it is empty.
struct PathCost {
    std::uint32_t links = 0;
    std::uint64_t latency_ps = 0;
    std::uint64_t full_ps = 0;     // sum of the wire times of a full packet
    std::uint64_t control_ps = 0;  // … of a control packet
};

class Forwarding {
  public:
    // The references outlive it; the last two are only used once messages move.
    Forwarding(EventQueue& queue, Routing& routing, bool cut_through, Links& links, Hosts& hosts);

    // The packet is at the node, where it came by the link `ingress` (kNone: it was made there).
    // Throws SimulationError if it was made there and no path is left.
    void forward(std::uint32_t node, std::uint32_t packet, std::uint32_t ingress);
    // Sends a control packet from the destination of its flow.
    void send_on(std::uint32_t packet);
    // The links that the flow may start on. Throws SimulationError if no path is left.
    std::span<const std::uint32_t> first_links(const Flow& flow);
    PathCost path_cost(std::uint32_t source, std::uint32_t destination);
    // The rate of the narrowest place on the way of a flow: of a link, or of all links together
    // where its packets spread over them. 0: there is no limit.
    std::uint64_t path_bits_per_s(const Flow& flow);

    void set_up(LinkId link, bool up);

  private:
    // Whether a path is left from the node; O(its length).
    bool reaches(std::uint32_t node, std::uint32_t destination);
    [[noreturn]] void fail_no_path(std::uint32_t source, std::uint32_t destination) const;
    std::uint32_t choose(std::uint32_t node, std::span<const std::uint32_t> links, Packet& packet);
    std::uint32_t least_loaded(std::span<const std::uint32_t> links, Packet& packet);
    void on_late_forward(std::uint64_t packet_and_link);

    EventQueue& queue_;
    Routing& routing_;
    Links& links_;
    Hosts& hosts_;
    const bool cut_through_;
    const bool hashed_;     // one path a flow
    bool changed_ = false;  // a link went down or came up during the run
};

}  // namespace astra::packet
