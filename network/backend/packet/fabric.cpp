#include "network/backend/packet/fabric.h"

#include <algorithm>
#include <utility>

#include "astra/core/check.h"

namespace astra::packet {

Fabric::Fabric(EventQueue& queue, Routing& routing, const Settings& settings)
    : queue_(queue),
      routing_(routing),
      settings_(settings),
      ranks_(routing.topology().ranks()),
      hashed_(routing.policy() == RoutePolicy::DimensionOrder ||
              routing.policy() == RoutePolicy::Ecmp),
      links_(routing.topology().links()),
      first_path_(static_cast<std::uint32_t>(routing.pair_hash(0, 0))),
      paths_(ranks_),
      full_ps_out_(ranks_),
      full_ps_in_(ranks_),
      random_state_(routing.pair_hash(0, 0)) {
    build_links();
}

void Fabric::build_links() {
    const Topology& topology = routing_.topology();
    for (const LinkProperties& properties : topology.classes()) {
        LinkClass& link_class = classes_.emplace_back();
        link_class.rate = properties.bandwidth;
        link_class.latency_ps = properties.latency.ps;
        link_class.full_bytes = settings_.full_bytes();
        link_class.full_ps = transfer_time({link_class.full_bytes}, link_class.rate).ps;
        link_class.control_bytes = settings_.control_bytes;
        link_class.control_ps = transfer_time({link_class.control_bytes}, link_class.rate).ps;
        link_class.clock = TransferClock(link_class.rate);
    }
    std::vector<std::uint64_t> out_bits_per_s(ranks_);
    std::vector<std::uint64_t> in_bits_per_s(ranks_);
    for (std::uint32_t id = 0; id < links_.size(); ++id) {
        const LinkEnds ends = topology.link_ends(id);
        links_[id].link_class = topology.link_class(id);
        links_[id].to = ends.to;
        const std::uint64_t bits_per_s = classes_[links_[id].link_class].rate.bits_per_s;
        if (ends.from < ranks_) {
            std::uint64_t& sum = out_bits_per_s[ends.from];
            sum = saturating_add(sum, bits_per_s);
        }
        if (ends.to < ranks_) {
            std::uint64_t& sum = in_bits_per_s[ends.to];
            sum = saturating_add(sum, bits_per_s);
        }
    }
    for (const std::uint32_t id : topology.down_links()) {
        links_[id].up = false;
    }
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        const Bytes full{settings_.full_bytes()};
        full_ps_out_[rank] = transfer_time(full, {out_bits_per_s[rank]}).ps;
        full_ps_in_[rank] = transfer_time(full, {in_bits_per_s[rank]}).ps;
    }
}

void Fabric::attach(Transport& transport) {
    transport_ = &transport;
    for (LinkClass& link_class : classes_) {
        link_class.limits = transport.limits(link_class);
    }
}

void Fabric::use_flow_control(const FlowControlSettings& settings) {
    const Topology& topology = routing_.topology();
    std::vector<FlowControl::LinkInfo> links;
    links.reserve(links_.size());
    for (std::uint32_t id = 0; id < links_.size(); ++id) {
        const LinkEnds ends = topology.link_ends(id);
        const LinkClass& link_class = classes_[links_[id].link_class];
        links.push_back({ends.from, ends.to, link_class.rate.bits_per_s, link_class.latency_ps});
    }
    flow_control_ = std::make_unique<FlowControl>(
        settings, links, topology.nodes(), ranks_, settings_.full_bytes());
}

void Fabric::on_link(std::uint64_t argument) {
    const auto id = static_cast<std::uint32_t>(argument);
    const std::uint64_t now = now_ps();
    Link& link = links_[id];
    if (link.armed_ps == now) {
        link.armed_ps = kNever;
    }
    advance(id, now);
    const std::uint32_t first = link.flight.first;
    if (first == kNone || packets_[first].time_ps > now) {
        arm(id);
        return;
    }
    packets_.take_first(link.flight);
    arm(id);
    arrive(id, first);
}

// Packets start one after the other, each when the one before has left the wire. Only what waits
// already is here: whatever comes later calls advance() first.
void Fabric::start_waiting(std::uint32_t id, std::uint64_t until_ps) {
    Link& link = links_[id];
    while (link.busy_until_ps <= until_ps) {
        const std::uint32_t packet = take_next(id, until_ps);
        if (packet == kNone) {
            return;
        }
        start(link, packet);
    }
}

// Control first; then packets that are forwarded and the rank's own in turn.
std::uint32_t Fabric::take_next(std::uint32_t id, std::uint64_t until_ps) {
    Link& link = links_[id];
    const bool data_waits = !link.paused && (!link.data.empty() || link.ring != kNone);
    if (!link.control.empty() &&
        (control_weight_ == 0 || link.control_run < control_weight_ || !data_waits)) {
        link.control_run = static_cast<std::uint8_t>(std::min(link.control_run + 1, 255));
        const std::uint32_t packet = packets_.take_first(link.control);
        link.control_bytes -= packets_[packet].bytes();
        return packet;
    }
    if (link.paused) {
        return kNone;
    }
    const bool own_waits = link.ring != kNone || link.pacer != kNone;
    std::uint32_t packet = kNone;
    if (!link.data.empty() && (link.forwarded_turn || !own_waits)) {
        link.forwarded_turn = false;
        packet = take_data(link);
    } else if (own_waits) {
        link.forwarded_turn = true;
        // With forwarded packets waiting, a rank's own that must wait for its time does not count.
        packet = take_from_ring(id, link.data.empty() ? until_ps : link.busy_until_ps);
        if (packet == kNone && !link.data.empty()) {
            packet = take_data(link);
        }
    }
    if (packet != kNone) {
        link.control_run = 0;
        return packet;
    }
    if (link.control.empty()) {
        return kNone;
    }
    packet = packets_.take_first(link.control);
    link.control_bytes -= packets_[packet].bytes();
    return packet;
}

void Fabric::start(Link& link, std::uint32_t id) {
    Packet& packet = packets_[id];
    LinkClass& link_class = classes_[link.link_class];
    const std::uint32_t bytes = packet.bytes();
    const std::uint64_t wire_ps = link_class.wire_ps(bytes);
    const std::uint64_t start_ps = link.busy_until_ps;
    link.busy_until_ps = saturating_add(start_ps, wire_ps);
    link.wire_bytes += bytes;
    link.busy_ps += wire_ps;
    if (!packet.is_control()) {
        link.payload_bytes += bytes - settings_.header_bytes;
    }
    // With cut-through the first byte counts, but for the rank that waits for the whole packet.
    const bool first_byte = settings_.cut_through && packet.destination != link.to;
    packet.time_ps =
        saturating_add(first_byte ? start_ps : link.busy_until_ps, link_class.latency_ps);
    if (packet.time_ps == kNever) [[unlikely]] {
        queue_.schedule_at({kNever}, {});  // says that time is over
    }
    packets_.append(link.flight, id);
}

std::uint64_t Fabric::next_event_ps(const Link& link) const {
    if (!link.control.empty()) {
        return link.busy_until_ps;
    }
    if (link.paused) {
        return kNever;
    }
    if (!link.data.empty() || link.ring != kNone) {
        return link.busy_until_ps;
    }
    if (link.pacer != kNone && !pacers_[link.pacer].empty()) {
        return std::max(link.busy_until_ps, pacers_[link.pacer].front().when_ps);
    }
    return kNever;
}

// While a packet is on the link, its arrival is early enough for whatever waits; but a switch that
// has paused somebody must know when a packet leaves.
void Fabric::arm(std::uint32_t id) {
    Link& link = links_[id];
    std::uint64_t when_ps = kNever;
    if (!link.flight.empty()) [[likely]] {
        when_ps = packets_[link.flight.first].time_ps;
        if (flow_control_ && !link.data.empty() && !link.paused && flow_control_->watches(id)) {
            when_ps = std::min(when_ps, link.busy_until_ps);
        }
    } else {
        when_ps = next_event_ps(link);
    }
    if (when_ps < link.armed_ps) {
        link.armed_ps = when_ps;
        queue_.schedule_at({when_ps}, Callback::to<&Fabric::on_link>(*this, id));
    }
}

void Fabric::arrive(std::uint32_t id, std::uint32_t packet) {
    if (settings_.loss != 0 && random() < settings_.loss) [[unlikely]] {
        drop(id, packet);
        return;
    }
    const std::uint32_t node = links_[id].to;
    if (packets_[packet].destination == node) {
        transport_->arrive(packet);
    } else {
        forward(node, packet, id);
    }
}

void Fabric::forward(std::uint32_t node, std::uint32_t id, std::uint32_t ingress) {
    Packet& packet = packets_[id];
    const std::span<const std::uint32_t> links = routing_.next_links(node, packet.destination);
    std::uint32_t link = kNone;
    if (links.size() == 1) [[likely]] {
        link = links[0];
    } else if (!links.empty()) {
        link = choose(node, links, packet);
    }
    if (changed_ && !reaches(node, packet.destination)) [[unlikely]] {
        if (ingress == kNone) {
            fail_no_path(node, packet.destination);
        }
        drop(ingress, id);
        return;
    }
    ASTRA_CHECK(link != kNone, "a whole fabric has no way on");
    if (settings_.cut_through && ingress != kNone) {
        const std::uint32_t bytes = packet.bytes();
        const std::uint64_t in_ps = classes_[links_[ingress].link_class].wire_ps(bytes);
        const std::uint64_t out_ps = classes_[links_[link].link_class].wire_ps(bytes);
        if (out_ps < in_ps) {
            // On a faster link it must not end before its last byte is here.
            packet.tag = ingress;
            queue_.schedule_after(
                {in_ps - out_ps},
                Callback::to<&Fabric::on_late_forward>(*this, (std::uint64_t{id} << 32) | link));
            return;
        }
    }
    enqueue(link, id, ingress);
}

void Fabric::on_late_forward(std::uint64_t packet_and_link) {
    const auto packet = static_cast<std::uint32_t>(packet_and_link >> 32);
    const auto link = static_cast<std::uint32_t>(packet_and_link);
    enqueue(link, packet, static_cast<std::uint32_t>(packets_[packet].tag));
}

// Spraying numbers the paths: at a node with n ways on, the number mod n chooses, and the
// number / n is left for the nodes behind. Consecutive packets so go round every node's ways.
std::uint32_t Fabric::choose(std::uint32_t node,
                             std::span<const std::uint32_t> links,
                             Packet& packet) {
    const auto count = static_cast<std::uint32_t>(links.size());
    if (hashed_) {
        const Flow& flow = flows_[packet.flow];
        const bool onwards = packet.destination == flow.destination;
        return links[Routing::hashed_choice(onwards ? flow.hash : flow.reverse_hash, node, count)];
    }
    if (routing_.policy() == RoutePolicy::Spray) {
        const std::uint32_t way = packet.path % count;
        packet.path /= count;
        return links[way];
    }
    return least_loaded(links, packet);
}

// Fewest bytes that wait, then the wire that is free first, then in turn by the path number.
std::uint32_t Fabric::least_loaded(std::span<const std::uint32_t> links, Packet& packet) {
    const auto count = static_cast<std::uint32_t>(links.size());
    const std::uint64_t now = now_ps();
    const std::uint32_t turn = packet.path++ % count;
    std::uint32_t best = kNone;
    std::pair<std::uint64_t, std::uint64_t> least{kNever, kNever};
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t id = links[(turn + i) % count];
        advance(id, now);
        const Link& link = links_[id];
        const std::pair load{link.queued_bytes, std::max(link.busy_until_ps, now)};
        if (best == kNone || load < least) {
            best = id;
            least = load;
        }
    }
    return best;
}

// A node with one link gives that link wherever it leads, so that only the walk shows it.
bool Fabric::reaches(std::uint32_t node, std::uint32_t destination) {
    for (std::uint32_t steps = 0; node != destination; ++steps) {
        const std::span<const std::uint32_t> links = routing_.next_links(node, destination);
        if (links.empty() || steps > routing_.topology().nodes()) {
            return false;
        }
        node = links_[links[0]].to;
    }
    return true;
}

PathCost Fabric::path_cost(std::uint32_t source, std::uint32_t destination) {
    PathCost cost;
    std::uint32_t node = source;
    while (node != destination) {
        const std::span<const std::uint32_t> links = routing_.next_links(node, destination);
        ASTRA_CHECK(!links.empty(), "flows of a cut pair are refused");
        const Link& link = links_[links[0]];
        const LinkClass& link_class = classes_[link.link_class];
        ++cost.links;
        cost.latency_ps = saturating_add(cost.latency_ps, link_class.latency_ps);
        cost.full_ps = saturating_add(cost.full_ps, link_class.full_ps);
        cost.control_ps = saturating_add(cost.control_ps, link_class.control_ps);
        node = link.to;
    }
    return cost;
}

std::uint64_t Fabric::path_packets(std::uint32_t source, std::uint32_t destination) {
    const PathCost cost = path_cost(source, destination);
    const std::uint64_t round_ps = saturating_add(saturating_add(cost.full_ps, cost.control_ps),
                                                  saturating_multiply(2, cost.latency_ps));
    const std::uint64_t packet_ps = std::max(full_ps_out_of(source), full_ps_into(destination));
    return packet_ps == 0 ? kNever : round_ps / packet_ps + 1;
}

}  // namespace astra::packet
