// The packet network as backends and transports see it. Its parts: links with their queues, the
// choice of the next link, hosts that feed flows into the network, and the repair of losses.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/records.h"
#include "network/backend/backend.h"
#include "network/backend/packet/flow.h"
#include "network/backend/packet/flow_control.h"
#include "network/backend/packet/forwarding.h"
#include "network/backend/packet/hosts.h"
#include "network/backend/packet/links.h"
#include "network/backend/packet/packet.h"
#include "network/backend/packet/repair.h"
#include "network/backend/packet/settings.h"
#include "network/backend/packet/transport.h"
#include "network/routing/routing.h"

namespace astra::packet {

// The queue and the routing outlive the fabric.
class Fabric {
  public:
    Fabric(EventQueue& queue, Routing& routing, const Settings& settings);
    ~Fabric() = default;
    // Its parts refer to each other.
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    // Once, before the first message; the transport must live as long as messages move.
    void attach(Transport& transport);

    // --- for the backend ---
    void send(const Message& message, SimTime at, Callback delivered, Callback sent) {
        hosts_.send(message, at, delivered, sent);
    }
    void set_link(LinkId link, bool up);
    std::vector<LinkRecord> link_records() const { return links_.records(); }
    std::uint64_t wire_bytes(std::uint32_t link) { return links_.wire_bytes(link); }
    std::uint64_t waiting_bytes(std::uint32_t link) { return links_.waiting_bytes(link); }
    // The first time begins the intervals of all links.
    void observe() { links_.observe(); }
    PacketInterval interval(std::uint32_t link) { return links_.interval(link); }

    // --- for transports ---
    std::uint64_t now_ps() const { return queue_.now().ps; }
    EventQueue& queue() { return queue_; }
    const Settings& settings() const { return settings_; }
    std::uint32_t ranks() const { return ranks_; }
    std::uint32_t links() const { return links_.size(); }
    // Valid until the next message is sent.
    Flow& flow(std::uint32_t id) { return hosts_.flow(id); }
    Packet& packet(std::uint32_t id) { return links_.packets()[id]; }
    PacketArena& packets() { return links_.packets(); }

    // Lets everything start that the flow may have started before now. To be called before a
    // change of what it may send; afterwards wake() lets it send from now on.
    void settle(std::uint32_t flow) { hosts_.settle(flow); }
    void wake(std::uint32_t flow) { hosts_.wake(flow); }
    void send_again(std::uint32_t flow, std::uint32_t sequence) {
        repair_.send_again(flow, sequence);
        hosts_.keep_again(flow);
    }
    // Packets that have left leave once more, from `sequence` on.
    void go_back(std::uint32_t flow, std::uint32_t sequence);
    // A packet of the flow is at its destination for the first time; whether it has all of them.
    bool take_in(Flow& flow) {
        hosts_.progress();
        return ++flow.received == flow.packets;
    }
    std::uint32_t take_sequence(Flow& flow) { return repair_.take_sequence(flow); }

    // Makes a control packet at the destination of a flow and sends it to the source.
    void answer(PacketKind kind, std::uint32_t flow, std::uint32_t sequence, std::uint64_t tag);
    // Sends a packet that arrived back as a control packet.
    void send_back(std::uint32_t packet, PacketKind kind);
    // Turns it round without sending it, for send_on().
    void turn_round(std::uint32_t packet, PacketKind kind);
    void send_on(std::uint32_t packet) { forwarding_.send_on(packet); }
    void release(std::uint32_t packet) { hosts_.release(packet); }
    void lose(std::uint32_t packet) { repair_.lose(packet); }
    // The last packet of the flow is there. Runs the callback, which may send messages: nothing
    // that was referred to before is valid afterwards.
    void deliver(std::uint32_t flow) { hosts_.deliver(flow); }
    // Keeps the flow's number for a timer.
    void hold(std::uint32_t flow) { ++hosts_.flow(flow).holds; }
    void let_go(std::uint32_t flow) { hosts_.let_go(flow); }

    PathCost path_cost(std::uint32_t source, std::uint32_t destination) {
        return forwarding_.path_cost(source, destination);
    }
    // Full packets that the empty path holds, with the return of their control packets, at the
    // line rate of its ends; rounded up.
    std::uint64_t path_packets(std::uint32_t source, std::uint32_t destination);
    std::uint64_t full_ps_out_of(std::uint32_t rank) const { return hosts_.full_ps_out_of(rank); }
    std::uint64_t full_ps_into(std::uint32_t rank) const { return hosts_.full_ps_into(rank); }
    std::uint64_t path_bits_per_s(std::uint32_t flow) {
        return forwarding_.path_bits_per_s(hosts_.flow(flow));
    }

    void use_flow_control(const FlowControlSettings& settings) {
        links_.use_flow_control(settings);
    }
    void set_control_weight(std::uint8_t weight) { links_.set_control_weight(weight); }

  private:
    EventQueue& queue_;
    const Settings settings_;
    const std::uint32_t ranks_;
    Links links_;
    Forwarding forwarding_;
    Hosts hosts_;
    Repair repair_;
};

}  // namespace astra::packet
