#include "network/backend/packet/fabric.h"

#include <algorithm>

namespace astra::packet {

Fabric::Fabric(EventQueue& queue, Routing& routing, const Settings& settings)
    : queue_(queue),
      settings_(settings),
      ranks_(routing.topology().ranks()),
      links_(queue,
             routing.topology(),
             settings,
             routing.pair_hash(0, 0),
             forwarding_,
             hosts_,
             repair_),
      forwarding_(queue, routing, settings.cut_through, links_, hosts_),
      hosts_(queue, routing, settings, links_, forwarding_),
      repair_(queue, settings.timeout, links_, forwarding_, hosts_) {}

void Fabric::attach(Transport& transport) {
    links_.attach(transport);
    hosts_.attach(transport);
    repair_.attach(transport);
}

void Fabric::set_link(LinkId link, bool up) {
    const std::uint32_t id = index(link);
    if (links_[id].up == up) {
        return;
    }
    links_.catch_up(id);
    links_[id].up = up;
    forwarding_.set_up(link, up);
    // One that was down from the start may only come up.
    if (!up) {
        links_.lose_all(id);
    }
    hosts_.renew_feeders();
}

void Fabric::go_back(std::uint32_t id, std::uint32_t sequence) {
    hosts_.settle(id);
    Flow& flow = hosts_.flow(id);
    if (sequence < flow.sent_packets) {
        flow.sent_packets = sequence;
        hosts_.keep_again(id);
        hosts_.wake(id);
    }
}

void Fabric::answer(PacketKind kind,
                    std::uint32_t flow,
                    std::uint32_t sequence,
                    std::uint64_t tag) {
    const std::uint32_t id = links_.packets().allocate();
    ++hosts_.flow(flow).holds;
    Packet& packet = links_.packets()[id];
    packet.flow = flow;
    packet.sequence = sequence;
    packet.tag = tag;
    turn_round(id, kind);
    forwarding_.send_on(id);
}

void Fabric::turn_round(std::uint32_t id, PacketKind kind) {
    Packet& packet = links_.packets()[id];
    const Flow& flow = hosts_.flow(packet.flow);
    packet.destination = flow.source;
    packet.path = static_cast<std::uint32_t>(flow.reverse_hash) + packet.sequence;
    packet.set(kind, settings_.control_bytes);
}

void Fabric::send_back(std::uint32_t packet, PacketKind kind) {
    turn_round(packet, kind);
    forwarding_.send_on(packet);
}

std::uint64_t Fabric::path_packets(std::uint32_t source, std::uint32_t destination) {
    const PathCost cost = path_cost(source, destination);
    const std::uint64_t round_ps = saturating_add(saturating_add(cost.full_ps, cost.control_ps),
                                                  saturating_multiply(2, cost.latency_ps));
    const std::uint64_t packet_ps = std::max(full_ps_out_of(source), full_ps_into(destination));
    return packet_ps == 0 ? kNever : round_ps / packet_ps + 1;
}

}  // namespace astra::packet
