// Flows, and how the links of ranks are fed by them.
#include <algorithm>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "network/backend/packet/fabric.h"

namespace astra::packet {

void Fabric::send(const Message& message, SimTime at, Callback delivered) {
    const std::uint32_t id = new_flow(message, delivered);
    if (at == queue_.now()) {
        inject(id);
    } else {
        queue_.schedule_at(at, Callback::to<&Fabric::inject>(*this, id));
    }
}

std::uint32_t Fabric::new_flow(const Message& message, Callback delivered) {
    const std::uint64_t size = message.size.count;
    const std::uint64_t full = size / settings_.mtu_bytes;
    const std::uint64_t rest = size % settings_.mtu_bytes;
    const std::uint64_t packets = std::max<std::uint64_t>(full + (rest != 0 ? 1 : 0), 1);
    if (packets >= kNone) {
        throw InputError(
            fmt::format("a message of {} bytes from {} to {} would need more than 4 billion "
                        "packets of {} bytes; "
                        "expected a larger network.packet.mtu",
                        size,
                        index(message.source),
                        index(message.destination),
                        settings_.mtu_bytes));
    }
    const std::uint32_t id = flows_.allocate();
    Flow& flow = flows_[id];
    flow.delivered = delivered;
    flow.source = index(message.source);
    flow.destination = index(message.destination);
    flow.packets = static_cast<std::uint32_t>(packets);
    flow.last_bytes =
        static_cast<std::uint32_t>(rest != 0 || size == 0 ? rest : settings_.mtu_bytes);
    flow.hash = routing_.pair_hash(flow.source, flow.destination);
    flow.reverse_hash = routing_.pair_hash(flow.destination, flow.source);
    return id;
}

void Fabric::inject(std::uint64_t argument) {
    const auto id = static_cast<std::uint32_t>(argument);
    flows_[id].live = true;
    add_feeders(id);
    transport_->begin(id);
    wake(id);
}

void Fabric::add_feeders(std::uint32_t id) {
    Flow& flow = flows_[id];
    if (changed_ && !flow.complete && !reaches(flow.source, flow.destination)) {
        fail_no_path(flow.source, flow.destination);
    }
    std::span<const std::uint32_t> links = routing_.next_links(flow.source, flow.destination);
    if (hashed_ && links.size() > 1) {
        const auto count = static_cast<std::uint32_t>(links.size());
        links = links.subspan(Routing::hashed_choice(flow.hash, flow.source, count), 1);
    }
    std::uint32_t before = kNone;
    for (const std::uint32_t link : links) {
        const std::uint32_t feeder = feeders_.allocate();
        feeders_[feeder].flow = id;
        feeders_[feeder].link = link;
        (before == kNone ? flow.first_feeder : feeders_[before].sibling) = feeder;
        before = feeder;
    }
}

void Fabric::remove_feeders(std::uint32_t id) {
    std::uint32_t feeder = flows_[id].first_feeder;
    while (feeder != kNone) {
        feeders_.free(feeder);
        feeder = feeders_[feeder].sibling;
    }
    flows_[id].first_feeder = kNone;
}

void Fabric::fail_no_path(std::uint32_t source, std::uint32_t destination) const {
    const Topology& topology = routing_.topology();
    throw SimulationError(
        fmt::format("no path from {}{} to rank {}: links that are down cut the network",
                    source < topology.ranks() ? "rank " : "",
                    topology.node_name(source),
                    destination));
}

void Fabric::settle(std::uint32_t id) {
    for (std::uint32_t i = flows_[id].first_feeder; i != kNone; i = feeders_[i].sibling) {
        advance(feeders_[i].link, now_ps());
    }
}

void Fabric::wake(std::uint32_t id) {
    const std::uint32_t first = flows_[id].first_feeder;
    const std::uint64_t now = now_ps();
    for (std::uint32_t i = first; i != kNone; i = feeders_[i].sibling) {
        if (feeders_[i].place == Feeder::Place::Idle) {
            Link& link = links_[feeders_[i].link];
            advance(feeders_[i].link, now);
            link.busy_until_ps = std::max(link.busy_until_ps, now);
            join_ring(i);
        }
    }
    for (std::uint32_t i = first; i != kNone; i = feeders_[i].sibling) {
        advance(feeders_[i].link, now);
        arm(feeders_[i].link);
    }
}

void Fabric::join_ring(std::uint32_t id) {
    Feeder& feeder = feeders_[id];
    Link& link = links_[feeder.link];
    if (feeder.place == Feeder::Place::Idle) {
        ++flows_[feeder.flow].holds;
    }
    feeder.place = Feeder::Place::Ring;
    if (link.ring == kNone) {
        feeder.next = id;
    } else {
        feeder.next = feeders_[link.ring].next;
        feeders_[link.ring].next = id;
    }
    link.ring = id;
}

// `before` is the one before it in the ring.
void Fabric::leave_ring(Link& link, std::uint32_t before, std::uint32_t id) {
    if (before == id) {
        link.ring = kNone;
    } else {
        feeders_[before].next = feeders_[id].next;
    }
    feeders_[id].place = Feeder::Place::Idle;
}

// Packet by packet, in turn. May move the time at which the link is free to that of a paced flow.
std::uint32_t Fabric::take_from_ring(std::uint32_t link_id, std::uint64_t until_ps) {
    Link& link = links_[link_id];
    while (true) {
        if (link.pacer != kNone && !join_due(link, until_ps)) {
            return kNone;
        }
        if (link.ring == kNone) {
            return kNone;
        }
        const std::uint32_t before = link.ring;
        const std::uint32_t id = feeders_[before].next;
        const std::uint32_t flow = feeders_[id].flow;
        if (feeders_[flows_[flow].first_feeder].sibling != kNone) {
            advance_siblings(flow, link_id);
        }
        const Sending sending = transport_->next(flow, link.busy_until_ps);
        if (sending.sequence == kNone) {
            leave_ring(link, before, id);
            if (sending.later_ps == kNever) {
                let_go(flow);
            } else {
                pace(id, sending.later_ps);
            }
            continue;
        }
        const std::uint32_t packet = make_data(flow, sending.sequence, link.busy_until_ps);
        if (sending.more) {
            link.ring = id;
        } else {
            leave_ring(link, before, id);
            --flows_[flow].holds;  // the packet holds the flow
        }
        return packet;
    }
}

// Several links of a rank take a flow's packets in the order in which they are free.
void Fabric::advance_siblings(std::uint32_t flow, std::uint32_t link) {
    const std::uint64_t free_ps = links_[link].busy_until_ps;
    for (std::uint32_t i = flows_[flow].first_feeder; i != kNone; i = feeders_[i].sibling) {
        const std::uint32_t other = feeders_[i].link;
        if (other != link && links_[other].busy_until_ps < free_ps) {
            advance(other, free_ps - 1);
        }
    }
}

void Fabric::pace(std::uint32_t id, std::uint64_t when_ps) {
    Link& link = links_[feeders_[id].link];
    if (link.pacer == kNone) {
        link.pacer = static_cast<std::uint32_t>(pacers_.size());
        pacers_.emplace_back();
    }
    Pacer& pacer = pacers_[link.pacer];
    feeders_[id].place = Feeder::Place::Pacer;
    pacer.push_back({when_ps, paced_++, id});
    std::push_heap(pacer.begin(), pacer.end(), PacedLater{});
}

// Moves paced flows whose time has come to the ring; with an empty ring, the first whose time comes
// by `until_ps`. False: there is nobody.
bool Fabric::join_due(Link& link, std::uint64_t until_ps) {
    Pacer& pacer = pacers_[link.pacer];
    if (link.ring == kNone && !pacer.empty() && pacer.front().when_ps > link.busy_until_ps) {
        if (pacer.front().when_ps > until_ps) {
            return false;
        }
        link.busy_until_ps = pacer.front().when_ps;
    }
    while (!pacer.empty() && pacer.front().when_ps <= link.busy_until_ps) {
        const std::uint32_t feeder = pacer.front().feeder;
        std::pop_heap(pacer.begin(), pacer.end(), PacedLater{});
        pacer.pop_back();
        join_ring(feeder);
    }
    return true;
}

// A rank goes round all ways with its packets whatever flows they are of: with paths of their own,
// many flows would load the ways at random. The slip keeps a number of flows that has a common
// divisor with the number of ways from tying each flow to one of them. An odd factor makes ranks
// that follow each other begin with different ways.
std::uint32_t Fabric::next_path(std::uint32_t rank) {
    constexpr std::uint32_t slip = 61;
    constexpr std::uint32_t spread = 0x9e3779b1U;
    const std::uint32_t count = paths_[rank]++;
    return first_path_ + rank * spread + count + count / slip;
}

std::uint32_t Fabric::make_data(std::uint32_t flow_id,
                                std::uint32_t sequence,
                                std::uint64_t start_ps) {
    const std::uint32_t id = packets_.allocate();
    Flow& flow = flows_[flow_id];
    ++flow.holds;
    Packet& packet = packets_[id];
    packet.tag = start_ps;
    packet.flow = flow_id;
    packet.sequence = sequence;
    packet.destination = flow.destination;
    packet.path = next_path(flow.source);
    const bool last = sequence + 1 == flow.packets;
    packet.set(PacketKind::Data,
               settings_.header_bytes + (last ? flow.last_bytes : settings_.mtu_bytes));
    return id;
}

void Fabric::send_again(std::uint32_t id, std::uint32_t sequence) {
    const std::uint32_t entry = resends_.allocate();
    resends_[entry].sequence = sequence;
    Flow& flow = flows_[id];
    (flow.first_resend == kNone ? flow.first_resend : resends_[flow.last_resend].next) = entry;
    flow.last_resend = entry;
}

std::uint32_t Fabric::take_sequence(Flow& flow) {
    const std::uint32_t entry = flow.first_resend;
    if (entry == kNone) {
        return flow.sent++;
    }
    flow.first_resend = resends_[entry].next;
    resends_.free(entry);
    return resends_[entry].sequence;
}

void Fabric::answer(PacketKind kind,
                    std::uint32_t flow,
                    std::uint32_t sequence,
                    std::uint64_t tag) {
    const std::uint32_t id = packets_.allocate();
    ++flows_[flow].holds;
    Packet& packet = packets_[id];
    packet.flow = flow;
    packet.sequence = sequence;
    packet.tag = tag;
    turn_round(id, kind);
    send_on(id);
}

void Fabric::turn_round(std::uint32_t id, PacketKind kind) {
    Packet& packet = packets_[id];
    const Flow& flow = flows_[packet.flow];
    packet.destination = flow.source;
    packet.path = static_cast<std::uint32_t>(flow.reverse_hash) + packet.sequence;
    packet.set(kind, settings_.control_bytes);
}

void Fabric::send_on(std::uint32_t id) {
    forward(flows_[packets_[id].flow].destination, id, kNone);
}

void Fabric::send_back(std::uint32_t packet, PacketKind kind) {
    turn_round(packet, kind);
    send_on(packet);
}

void Fabric::release(std::uint32_t packet) {
    const std::uint32_t flow = packets_[packet].flow;
    packets_.free(packet);
    let_go(flow);
}

void Fabric::let_go(std::uint32_t id) {
    Flow& flow = flows_[id];
    if (--flow.holds == 0 && flow.complete) {
        flow.live = false;
        remove_feeders(id);
        flows_.free(id);
    }
}

void Fabric::deliver(std::uint32_t id) {
    Flow& flow = flows_[id];
    const Callback delivered = flow.delivered;
    flow.complete = true;
    ++flow.holds;
    let_go(id);
    delivered();
}

std::uint64_t Fabric::line_bits_per_s(std::uint32_t flow) const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = flows_[flow].first_feeder; i != kNone; i = feeders_[i].sibling) {
        sum = saturating_add(sum, classes_[links_[feeders_[i].link].link_class].rate.bits_per_s);
    }
    return sum;
}

}  // namespace astra::packet
