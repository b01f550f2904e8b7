// The packet network: output-queued links, the packets on them, and the flows that feed them.
//
// One event a packet and hop. A link's queue has no events: the link is brought up to the present
// (advance) when a packet comes to it, when the first packet on it arrives, and when somebody asks
// for its state. A packet leaves its queue when the wire is free; it is then on the link with a
// known time of arrival, and only the first packet on the link has an event. A packet of a flow is
// made in the same way, when its rank's link is free for it, so that at most the packets that are
// really in the network exist.
//
// This is exact because whatever starts after the first packet on a link also arrives after it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/records.h"
#include "network/backend/backend.h"
#include "network/backend/packet/flow.h"
#include "network/backend/packet/flow_control.h"
#include "network/backend/packet/link.h"
#include "network/backend/packet/packet.h"
#include "network/backend/packet/settings.h"
#include "network/backend/packet/transport.h"
#include "network/routing/routing.h"

namespace astra::packet {

// What the path of a pair costs when it is empty.
struct PathCost {
    std::uint32_t links = 0;
    std::uint64_t latency_ps = 0;
    std::uint64_t full_ps = 0;     // sum of the wire times of a full packet
    std::uint64_t control_ps = 0;  // … of a control packet
};

// The queue and the routing outlive the fabric.
class Fabric {
  public:
    Fabric(EventQueue& queue, Routing& routing, const Settings& settings);

    // Once, before the first message; the transport must live as long as messages move.
    void attach(Transport& transport);

    // --- for the backend ---
    void send(const Message& message, SimTime at, Callback delivered);
    void set_link(std::uint32_t link, bool up);
    // Links that nobody has looked at since a packet left may lack it while packets are on the way.
    std::vector<LinkRecord> link_records() const;
    // Bytes that have left by now (of the packet on the wire the part that has) and that wait.
    std::uint64_t wire_bytes(std::uint32_t link);
    std::uint64_t waiting_bytes(std::uint32_t link);

    // --- for transports ---
    std::uint64_t now_ps() const { return queue_.now().ps; }
    EventQueue& queue() { return queue_; }
    const Settings& settings() const { return settings_; }
    std::uint32_t ranks() const { return ranks_; }
    std::uint32_t links() const { return static_cast<std::uint32_t>(links_.size()); }
    // Valid until the next message is sent.
    Flow& flow(std::uint32_t id) { return flows_[id]; }
    Packet& packet(std::uint32_t id) { return packets_[id]; }
    PacketArena& packets() { return packets_; }

    // Lets everything start that the flow may have started before now. To be called before a
    // change of what it may send; afterwards wake() lets it send from now on.
    void settle(std::uint32_t flow);
    void wake(std::uint32_t flow);
    // Puts a packet, to be sent again before new ones, on the flow's list.
    void send_again(std::uint32_t flow, std::uint32_t sequence);
    // The flow's next packet in order: one to be sent again, or a new one. Requires !all_sent().
    std::uint32_t take_sequence(Flow& flow);

    // Makes a control packet at the destination of a flow and sends it to the source.
    void answer(PacketKind kind, std::uint32_t flow, std::uint32_t sequence, std::uint64_t tag);
    // Sends a packet that arrived back as a control packet.
    void send_back(std::uint32_t packet, PacketKind kind);
    // Turns it round without sending it, for send_on().
    void turn_round(std::uint32_t packet, PacketKind kind);
    void send_on(std::uint32_t packet);
    // The packet is gone.
    void release(std::uint32_t packet);
    // The packet is lost now, and Transport::time_out follows; a control packet is sent again
    // by itself after the timeout, but a notification of congestion is not.
    void lose(std::uint32_t packet);
    // The last packet of the flow is there. Runs the callback, which may send messages: nothing
    // that was referred to before is valid afterwards.
    void deliver(std::uint32_t flow);
    // Keeps the flow's slot for a timer.
    void hold(std::uint32_t flow) { ++flows_[flow].holds; }
    void let_go(std::uint32_t flow);

    PathCost path_cost(std::uint32_t source, std::uint32_t destination);
    // Full packets that the empty path holds, with the way back of their control packets, at the
    // line rate of its ends; rounded up.
    std::uint64_t path_packets(std::uint32_t source, std::uint32_t destination);
    // Of all links of a rank together, outwards or inwards; the time that a full packet takes.
    std::uint64_t full_ps_out_of(std::uint32_t rank) const { return full_ps_out_[rank]; }
    std::uint64_t full_ps_into(std::uint32_t rank) const { return full_ps_in_[rank]; }
    // Rate of the links that the flow may start on.
    std::uint64_t line_bits_per_s(std::uint32_t flow) const;

    void use_flow_control(const FlowControlSettings& settings);
    // At most so many control packets in a row go before data that waits; 0: any number.
    void set_control_weight(std::uint8_t weight) { control_weight_ = weight; }

  private:
    struct Paced {
        std::uint64_t when_ps = 0;
        std::uint64_t order = 0;
        std::uint32_t feeder = kNone;
    };
    struct PacedLater {
        bool operator()(const Paced& a, const Paced& b) const {
            return a.when_ps != b.when_ps ? a.when_ps > b.when_ps : a.order > b.order;
        }
    };
    using Pacer = std::vector<Paced>;  // a heap, the earliest on top

    // fabric.cpp: links
    void build_links();
    void on_link(std::uint64_t link);
    void advance(std::uint32_t link, std::uint64_t until_ps) {
        if (links_[link].busy_until_ps <= until_ps) {
            start_waiting(link, until_ps);
        }
    }
    void start_waiting(std::uint32_t link, std::uint64_t until_ps);
    std::uint32_t take_next(std::uint32_t link, std::uint64_t until_ps);
    void start(Link& link, std::uint32_t packet);
    void arm(std::uint32_t link);
    std::uint64_t next_event_ps(const Link& link) const;
    void arrive(std::uint32_t link, std::uint32_t packet);
    void forward(std::uint32_t node, std::uint32_t packet, std::uint32_t ingress);
    // Whether a path is left from the node; O(its length).
    bool reaches(std::uint32_t node, std::uint32_t destination);
    std::uint32_t choose(std::uint32_t node, std::span<const std::uint32_t> links, Packet& packet);
    std::uint32_t least_loaded(std::span<const std::uint32_t> links, Packet& packet);
    void on_late_forward(std::uint64_t packet_and_link);

    // fabric_queues.cpp: ports and losses
    void enqueue(std::uint32_t link, std::uint32_t packet, std::uint32_t ingress);
    void queue_control(std::uint32_t link, std::uint32_t packet);
    void queue_data(std::uint32_t link, std::uint32_t packet, std::uint32_t ingress);
    void trim(std::uint32_t link, std::uint32_t packet);
    bool marks(const PortLimits& limits, std::uint64_t waiting_bytes);
    bool admit(std::uint32_t link, std::uint32_t packet, std::uint32_t ingress);
    std::uint32_t take_data(Link& link);
    void on_pause(std::uint64_t link_and_stop);
    void drop(std::uint32_t link, std::uint32_t packet);
    void on_timeout(std::uint64_t packet);
    void lose_all(std::uint32_t link);
    LinkCounters& counters(std::uint32_t link);
    std::uint64_t random();

    // fabric_flows.cpp: flows and what feeds links
    void inject(std::uint64_t flow);
    std::uint32_t new_flow(const Message& message, Callback delivered);
    void add_feeders(std::uint32_t flow);
    void remove_feeders(std::uint32_t flow);
    void renew_feeders();
    [[noreturn]] void fail_no_path(std::uint32_t source, std::uint32_t destination) const;
    void join_ring(std::uint32_t feeder);
    void leave_ring(Link& link, std::uint32_t before, std::uint32_t feeder);
    std::uint32_t take_from_ring(std::uint32_t link, std::uint64_t until_ps);
    void advance_siblings(std::uint32_t flow, std::uint32_t link);
    void pace(std::uint32_t feeder, std::uint64_t when_ps);
    bool join_due(Link& link, std::uint64_t until_ps);
    std::uint32_t next_path(std::uint32_t rank);
    std::uint32_t make_data(std::uint32_t flow, std::uint32_t sequence, std::uint64_t start_ps);

    EventQueue& queue_;
    Routing& routing_;
    const Settings settings_;
    Transport* transport_ = nullptr;
    const std::uint32_t ranks_;
    const bool hashed_;  // one path a flow
    std::vector<Link> links_;
    std::vector<LinkClass> classes_;
    PacketArena packets_;
    Arena<Flow> flows_;
    Arena<Feeder> feeders_;
    struct Resend {
        std::uint32_t sequence = 0;
        std::uint32_t next = kNone;
    };
    Arena<Resend> resends_;
    std::vector<Pacer> pacers_;
    std::uint64_t paced_ = 0;
    std::vector<LinkCounters> counters_;  // empty until something is counted
    std::unique_ptr<FlowControl> flow_control_;
    std::uint32_t first_path_;          // seeded
    std::vector<std::uint32_t> paths_;  // by rank: packets that it has made
    std::vector<std::uint64_t> full_ps_out_;
    std::vector<std::uint64_t> full_ps_in_;
    bool changed_ = false;  // a link went down or came up during the run
    std::uint8_t control_weight_ = 0;
    std::uint64_t random_state_;
};

}  // namespace astra::packet
