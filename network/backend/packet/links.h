// Links with the output queues before them: what waits, what is on the wire, what ports refuse,
// mark, trim or pause.
//
// One event a packet and link. A link's queue has no events: the link is brought up to the present
// (advance) when a packet comes to it, when the first packet on it arrives, and when somebody asks
// for its state. A packet leaves its queue when the wire is free; it is then on the link with a
// known time of arrival, and only the first packet on the link has an event. A packet of a flow is
// made in the same way, when its rank's link is free for it (Hosts::take), so that at most the
// packets that are really in the network exist.
//
// This is exact because whatever starts after the first packet on a link also arrives after it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/recorder/recorder.h"
#include "astra/core/records.h"
#include "network/backend/packet/flow_control.h"
#include "network/backend/packet/link.h"
#include "network/backend/packet/packet.h"
#include "network/backend/packet/settings.h"
#include "network/topology/topology.h"

namespace astra::packet {

class Forwarding;
class Hosts;
class Repair;
class Transport;

class Links {
  public:
    // `seed` starts the random numbers of marks, trims and losses. The references outlive the
    // links; the last three are only used once messages move.
    Links(EventQueue& queue,
          const Topology& topology,
          const Settings& settings,
          std::uint64_t seed,
          Forwarding& forwarding,
          Hosts& hosts,
          Repair& repair);

    void attach(Transport& transport);
    void use_flow_control(const FlowControlSettings& settings);
    // At most so many control packets in a row go before data that waits; 0: any number.
    void set_control_weight(std::uint8_t weight) { control_weight_ = weight; }

    std::uint32_t size() const { return static_cast<std::uint32_t>(links_.size()); }
    Link& operator[](std::uint32_t link) { return links_[link]; }
    LinkClass& class_of(std::uint32_t link) { return classes_[links_[link].link_class]; }
    PacketArena& packets() { return packets_; }

    // Lets start what would have started by then, were somebody watching.
    void advance(std::uint32_t link, std::uint64_t until_ps) {
        if (links_[link].busy_until_ps <= until_ps) {
            start_waiting(link, until_ps);
        }
    }
    // Sees to it that the link has an event when something happens on it.
    void arm(std::uint32_t link);
    // Has the link advanced at every packet that starts on it, as often as it is watched.
    void watch(std::uint32_t link);
    void unwatch(std::uint32_t link) { --watchers_[link]; }
    // A packet that came by the link `ingress` (kNone: it was made at the node) is to be sent.
    void enqueue(std::uint32_t link, std::uint32_t packet, std::uint32_t ingress);
    // The packet is counted as lost at the link, and goes to repair.
    void drop(std::uint32_t link, std::uint32_t packet);
    // A rank sends a packet on the link that it has sent before.
    void count_repeat(std::uint32_t link);

    // Before a link fails or comes back: brings it and all links that flows feed to the present.
    void catch_up(std::uint32_t failing);
    // Everything on the link and in its queue is lost.
    void lose_all(std::uint32_t link);

    // Links that nobody has looked at since a packet left may lack it while packets are on the
    // way.
    std::vector<LinkRecord> records() const;
    // Bytes that have left by now (of the packet on the wire the part that has) and that wait.
    std::uint64_t wire_bytes(std::uint32_t link);
    std::uint64_t waiting_bytes(std::uint32_t link);
    // Begins the intervals of all links, once; it costs time with every packet that waits.
    void observe();
    // Ends the interval of a link now, and begins the next.
    PacketInterval interval(std::uint32_t link);

  private:
    void on_link(std::uint64_t link);
    void start_waiting(std::uint32_t link, std::uint64_t until_ps);
    std::uint32_t take_next(std::uint32_t link, std::uint64_t until_ps);
    void start(Link& link, std::uint32_t packet);
    std::uint64_t next_event_ps(const Link& link) const;
    void arrive(std::uint32_t link, std::uint32_t packet);

    void queue_control(std::uint32_t link, std::uint32_t packet);
    void queue_data(std::uint32_t link, std::uint32_t packet, std::uint32_t ingress);
    void trim(std::uint32_t link, std::uint32_t packet);
    bool marks(const PortLimits& limits, std::uint64_t waiting_bytes);
    bool admit(std::uint32_t link, std::uint32_t packet, std::uint32_t ingress);
    std::uint32_t take_data(Link& link, std::uint64_t at_ps);
    void queue_changes(const Link& link, std::uint64_t at_ps);
    void on_pause(std::uint64_t link_and_stop);
    LinkCounters& counters(std::uint32_t link);
    std::uint64_t random();

    EventQueue& queue_;
    const Topology& topology_;
    const Settings settings_;
    Forwarding& forwarding_;
    Hosts& hosts_;
    Repair& repair_;
    Transport* transport_ = nullptr;
    std::vector<Link> links_;
    std::vector<LinkClass> classes_;
    PacketArena packets_;
    std::vector<std::uint32_t> watchers_;   // by link; empty before the first
    std::vector<LinkCounters> counters_;    // empty until something is counted
    std::vector<QueueInterval> intervals_;  // empty until somebody observes
    std::unique_ptr<FlowControl> flow_control_;
    std::uint8_t control_weight_ = 0;
    std::uint64_t random_state_;
};

}  // namespace astra::packet
