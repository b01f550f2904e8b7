#include "network/backend/packet/hosts.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "astra/core/mix.h"
#include "network/backend/packet/forwarding.h"
#include "network/backend/packet/links.h"
#include "network/backend/packet/transport.h"

namespace astra::packet {

namespace {

constexpr std::uint64_t kMostPlaces = 64;
constexpr std::uint32_t kFewPlaces = 8;
constexpr std::uint64_t kMostVain = std::uint64_t{1} << 22;

}  // namespace

Hosts::Hosts(EventQueue& queue,
             const Routing& routing,
             const Settings& settings,
             Links& links,
             Forwarding& forwarding)
    : queue_(queue),
      routing_(routing),
      settings_(settings),
      links_(links),
      forwarding_(forwarding),
      first_path_(static_cast<std::uint32_t>(routing.pair_hash(0, 0))) {
    const Topology& topology = routing.topology();
    const std::uint32_t ranks = topology.ranks();
    paths_.resize(ranks);
    std::vector<std::uint64_t> out_bits_per_s(ranks);
    std::vector<std::uint64_t> in_bits_per_s(ranks);
    for (std::uint32_t id = 0; id < topology.links(); ++id) {
        const LinkEnds ends = topology.link_ends(id);
        const std::uint64_t bits_per_s =
            topology.classes()[topology.link_class(id)].bandwidth.bits_per_s;
        if (ends.from < ranks) {
            std::uint64_t& sum = out_bits_per_s[ends.from];
            sum = saturating_add(sum, bits_per_s);
        }
        if (ends.to < ranks) {
            std::uint64_t& sum = in_bits_per_s[ends.to];
            sum = saturating_add(sum, bits_per_s);
        }
    }
    const Bytes full{settings.full_bytes()};
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        full_ps_out_.push_back(transfer_time(full, {out_bits_per_s[rank]}).ps);
        full_ps_in_.push_back(transfer_time(full, {in_bits_per_s[rank]}).ps);
    }
}

void Hosts::send(const Message& message, SimTime at, Callback delivered, Callback sent) {
    const std::uint32_t id = new_flow(message, delivered, sent);
    if (at == queue_.now()) {
        inject(id);
    } else {
        queue_.schedule_at(at, Callback::to<&Hosts::inject>(*this, id));
    }
}

std::uint32_t Hosts::new_flow(const Message& message, Callback delivered, Callback sent) {
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
    flow.sent = sent;
    flow.channel = message.channel;
    flow.source = index(message.source);
    flow.destination = index(message.destination);
    flow.packets = static_cast<std::uint32_t>(packets);
    flow.last_bytes =
        static_cast<std::uint32_t>(rest != 0 || size == 0 ? rest : settings_.mtu_bytes);
    flow.hash = routing_.pair_hash(flow.source, flow.destination);
    flow.reverse_hash = routing_.pair_hash(flow.destination, flow.source);
    return id;
}

void Hosts::inject(std::uint64_t argument) {
    const auto id = static_cast<std::uint32_t>(argument);
    const std::uint32_t connection_id = connection_of(flows_[id]);
    // What has left already is not to hold it up.
    if (connections_[connection_id].sending != kNone) {
        settle_flow(connections_[connection_id].sending);
    }
    append(connection_id, id);
    Connection& connection = connections_[connection_id];
    if (flows_[id].sent) {
        ++connection.watchers;
    }
    if (connection.sending == kNone) {
        connection.sending = id;
        begin(id, queue_.now().ps);
        wake_flow(id);
    }
    watch(connection_id);
}

std::uint32_t Hosts::connection_of(const Flow& flow) {
    std::uint32_t* known = nullptr;
    if (flow.channel != kOneMessage) {
        const std::uint64_t pair = (std::uint64_t{flow.source} << 32) | flow.destination;
        known = &connection_of_.try_emplace({pair, flow.channel}, kNone).first->second;
        if (*known != kNone) {
            return *known;
        }
    }
    const std::uint32_t id = connections_.allocate();
    connections_[id].source = flow.source;
    connections_[id].destination = flow.destination;
    connections_[id].channel = flow.channel;
    if (known != nullptr) {
        *known = id;
    }
    transport_->open(id);
    return id;
}

void Hosts::append(std::uint32_t connection_id, std::uint32_t id) {
    Connection& connection = connections_[connection_id];
    flows_[id].connection = connection_id;
    (connection.first == kNone ? connection.first : flows_[connection.last].behind) = id;
    connection.last = id;
    ++connection.flows;
}

void Hosts::begin(std::uint32_t id, std::uint64_t start_ps) {
    flows_[id].live = true;
    add_feeders(id);
    transport_->begin(id, start_ps);
}

// The last packet of a flow has started on the link.
void Hosts::start_next(std::uint32_t link) {
    const std::uint32_t done = std::exchange(left_, kNone);
    const std::uint64_t now = queue_.now().ps;
    const std::uint64_t left_ps = links_[link].busy_until_ps;
    const std::uint32_t connection_id = flows_[done].connection;
    if (flows_[done].sent) {
        --connections_[connection_id].watchers;
        ++flows_[done].holds;
        queue_.schedule_at({left_ps}, Callback::to<&Hosts::tell_sent>(*this, done));
    }
    unwatch_feeders(done);
    const std::uint32_t next = flows_[done].behind;
    connections_[connection_id].sending = next;
    if (!flows_[done].all_sent()) {
        keep_again(done);
    }
    if (next == kNone) {
        return;
    }
    begin(next, left_ps);
    for (std::uint32_t i = flows_[next].first_feeder; i != kNone; i = feeders_[i].sibling) {
        Link& other = links_[feeders_[i].link];
        other.busy_until_ps = std::max(other.busy_until_ps, left_ps);
        join_ring(i);
    }
    for (std::uint32_t i = flows_[next].first_feeder; i != kNone; i = feeders_[i].sibling) {
        if (feeders_[i].link != link) {
            links_.advance(feeders_[i].link, now);
            links_.arm(feeders_[i].link);
        }
    }
    watch(connection_id);
}

// Sees to it that the end of the flow that is sending is not found too late: looks again when all
// but its last packet may have left at the earliest, and then has its links tell of every packet.
void Hosts::watch(std::uint32_t id) {
    Connection& connection = connections_[id];
    if (connection.watched || connection.sending == kNone || connection.watchers == 0) {
        return;
    }
    const Flow& flow = flows_[connection.sending];
    const std::uint32_t full = flow.packets - flow.sent_packets - 1;
    if (full == 0) {
        watch_feeders(connection.sending);
        return;
    }
    bool may_send = false;
    std::uint64_t from_ps = kNever;
    for (std::uint32_t i = flow.first_feeder; i != kNone; i = feeders_[i].sibling) {
        may_send = may_send || feeders_[i].state != Feeder::State::Idle;
        from_ps = std::min(from_ps, links_[feeders_[i].link].busy_until_ps);
    }
    if (!may_send) {
        return;  // until it is woken
    }
    connection.watched = true;
    const std::uint64_t wire_ps = transfer_time({std::uint64_t{full} * settings_.full_bytes()},
                                                {line_bits_per_s(connection.sending)})
                                      .ps;
    // A sum of rates rounds a little: a picosecond a packet at most.
    const std::uint64_t earliest_ps = wire_ps - std::min<std::uint64_t>(wire_ps, full);
    queue_.schedule_at(
        {saturating_add(std::max(from_ps, queue_.now().ps), std::max(earliest_ps, wire_ps / 2))},
        Callback::to<&Hosts::look>(*this, id));
}

void Hosts::look(std::uint64_t argument) {
    const auto id = static_cast<std::uint32_t>(argument);
    connections_[id].watched = false;
    if (connections_[id].sending != kNone) {
        settle_flow(connections_[id].sending);
    }
    watch(id);
}

void Hosts::watch_feeders(std::uint32_t id) {
    for (std::uint32_t i = flows_[id].first_feeder; i != kNone; i = feeders_[i].sibling) {
        if (!feeders_[i].watched) {
            feeders_[i].watched = true;
            links_.watch(feeders_[i].link);
        }
    }
}

void Hosts::unwatch_feeders(std::uint32_t id) {
    for (std::uint32_t i = flows_[id].first_feeder; i != kNone; i = feeders_[i].sibling) {
        if (feeders_[i].watched) {
            feeders_[i].watched = false;
            links_.unwatch(feeders_[i].link);
        }
    }
}

void Hosts::tell_sent(std::uint64_t argument) {
    const auto id = static_cast<std::uint32_t>(argument);
    const Callback sent = std::exchange(flows_[id].sent, {});
    let_go(id);
    if (sent) {
        sent();
    }
}

void Hosts::add_feeders(std::uint32_t id) {
    Flow& flow = flows_[id];
    std::uint32_t before = kNone;
    for (const std::uint32_t link : forwarding_.first_links(flow)) {
        const std::uint32_t feeder = feeders_.allocate();
        feeders_[feeder].flow = id;
        feeders_[feeder].link = link;
        (before == kNone ? flow.first_feeder : feeders_[before].sibling) = feeder;
        before = feeder;
    }
}

void Hosts::remove_feeders(std::uint32_t id) {
    unwatch_feeders(id);
    std::uint32_t feeder = flows_[id].first_feeder;
    while (feeder != kNone) {
        feeders_.free(feeder);
        feeder = feeders_[feeder].sibling;
    }
    flows_[id].first_feeder = kNone;
}

// Every flow may now start on other links. Those that were about to send join the rings again, in
// the order of their numbers.
void Hosts::renew_feeders() {
    for (std::uint32_t id = 0; id < links_.size(); ++id) {
        Link& link = links_[id];
        link.ring = kNone;
        if (link.pacer != kNone) {
            pacers_[link.pacer].clear();
        }
    }
    std::vector<std::uint32_t> sending;
    for (std::uint32_t id = 0; id < flows_.size(); ++id) {
        Flow& flow = flows_[id];
        if (!flow.live) {
            continue;
        }
        bool sends = false;
        for (std::uint32_t i = flow.first_feeder; i != kNone; i = feeders_[i].sibling) {
            if (feeders_[i].state != Feeder::State::Idle) {
                sends = true;
                --flow.holds;
            }
        }
        remove_feeders(id);
        add_feeders(id);
        if (sends) {
            sending.push_back(id);
        }
    }
    for (const std::uint32_t id : sending) {
        ++flows_[id].holds;
        if (!flows_[id].complete) {
            wake_flow(id);
        }
        let_go(id);
    }
}

// What a flow has found out about the network also concerns the one that its connection sends.
void Hosts::settle(std::uint32_t id) {
    settle_flow(id);
    const std::uint32_t sending = connections_[flows_[id].connection].sending;
    if (sending != kNone && sending != id) {
        settle_flow(sending);
    }
}

void Hosts::keep_again(std::uint32_t id) {
    Connection& connection = connections_[flows_[id].connection];
    if (connection.sending != id &&
        std::find(connection.again.begin(), connection.again.end(), id) == connection.again.end()) {
        connection.again.push_back(id);
    }
}

// Whatever the flow's connection still has to send may go on, what is sent again first: the flow
// that was told of it is not always the one that waits.
void Hosts::wake(std::uint32_t id) {
    const std::uint32_t connection_id = flows_[id].connection;
    for (std::size_t i = 0; i < connections_[connection_id].again.size();) {
        const std::uint32_t waiting = connections_[connection_id].again[i];
        if (flows_[waiting].all_sent()) {
            std::vector<std::uint32_t>& again = connections_[connection_id].again;
            again.erase(again.begin() + static_cast<std::ptrdiff_t>(i));
            continue;
        }
        wake_flow(waiting);
        ++i;
    }
    const std::uint32_t sending = connections_[connection_id].sending;
    if (sending == kNone) {
        wake_flow(id);
        return;
    }
    wake_flow(sending);
}

void Hosts::settle_flow(std::uint32_t id) {
    for (std::uint32_t i = flows_[id].first_feeder; i != kNone; i = feeders_[i].sibling) {
        links_.advance(feeders_[i].link, queue_.now().ps);
    }
}

void Hosts::wake_flow(std::uint32_t id) {
    const std::uint32_t first = flows_[id].first_feeder;
    const std::uint64_t now = queue_.now().ps;
    for (std::uint32_t i = first; i != kNone; i = feeders_[i].sibling) {
        if (feeders_[i].state == Feeder::State::Idle) {
            Link& link = links_[feeders_[i].link];
            links_.advance(feeders_[i].link, now);
            link.busy_until_ps = std::max(link.busy_until_ps, now);
            join_ring(i);
        }
    }
    for (std::uint32_t i = first; i != kNone; i = feeders_[i].sibling) {
        links_.advance(feeders_[i].link, now);
        links_.arm(feeders_[i].link);
    }
    watch(flows_[id].connection);
}

void Hosts::join_ring(std::uint32_t id) {
    Feeder& feeder = feeders_[id];
    Link& link = links_[feeder.link];
    if (feeder.state == Feeder::State::Idle) {
        ++flows_[feeder.flow].holds;
    }
    feeder.state = Feeder::State::Ring;
    if (link.ring == kNone) {
        feeder.next = id;
    } else if (flows_[feeder.flow].out_of_turn) {
        join_anywhere(link, id);
        return;
    } else {
        feeder.next = feeders_[link.ring].next;
        feeders_[link.ring].next = id;
    }
    link.ring = id;
}

// Joins a ring that is not empty behind one of its flows at random; among a few, whose order
// matters to each and who fill no queue in step, behind the last.
void Hosts::join_anywhere(Link& link, std::uint32_t id) {
    Flow& flow = flows_[feeders_[id].flow];
    flow.out_of_turn = false;
    std::uint32_t before = link.ring;
    std::uint32_t others = 1;
    while (others < kFewPlaces && feeders_[before].next != link.ring) {
        before = feeders_[before].next;
        ++others;
    }
    if (others < kFewPlaces) {
        before = link.ring;
    } else {
        const std::uint64_t random = mix(flow.hash + kMixStep * flow.made_packets);
        for (std::uint64_t steps = random % kMostPlaces; steps > 0; --steps) {
            before = feeders_[before].next;
        }
    }
    feeders_[id].next = feeders_[before].next;
    feeders_[before].next = id;
    if (before == link.ring) {
        link.ring = id;
    }
}

// `before` is the one before it in the ring.
void Hosts::leave_ring(Link& link, std::uint32_t before, std::uint32_t id) {
    if (before == id) {
        link.ring = kNone;
    } else {
        feeders_[before].next = feeders_[id].next;
    }
    feeders_[id].state = Feeder::State::Idle;
}

// Packet by packet, in turn. May move the time at which the link is free to that of a paced flow.
std::uint32_t Hosts::take(std::uint32_t link_id, std::uint64_t until_ps) {
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
        if (sending.sequence < flows_[flow].made_packets) [[unlikely]] {
            repeat(flows_[flow], link_id);
        } else {
            flows_[flow].made_packets = sending.sequence + 1;
        }
        if (flows_[flow].sent_packets == flows_[flow].packets &&
            connections_[flows_[flow].connection].sending == flow) {
            left_ = flow;
        }
        if (sending.more && flows_[flow].out_of_turn && before != id) {
            feeders_[before].next = feeders_[id].next;
            join_anywhere(link, id);
        } else if (sending.more) {
            link.ring = id;
        } else {
            leave_ring(link, before, id);
            --flows_[flow].holds;  // the packet holds the flow
        }
        return packet;
    }
}

// Several links of a rank take a flow's packets in the order in which they are free.
void Hosts::advance_siblings(std::uint32_t flow, std::uint32_t link) {
    const std::uint64_t free_ps = links_[link].busy_until_ps;
    for (std::uint32_t i = flows_[flow].first_feeder; i != kNone; i = feeders_[i].sibling) {
        const std::uint32_t other = feeders_[i].link;
        if (other != link && links_[other].busy_until_ps < free_ps) {
            links_.advance(other, free_ps - 1);
        }
    }
}

void Hosts::pace(std::uint32_t id, std::uint64_t when_ps) {
    Link& link = links_[feeders_[id].link];
    if (link.pacer == kNone) {
        link.pacer = static_cast<std::uint32_t>(pacers_.size());
        pacers_.emplace_back();
    }
    Pacer& pacer = pacers_[link.pacer];
    feeders_[id].state = Feeder::State::Pacer;
    pacer.add(when_ps, paced_++, id);
}

// Moves paced flows whose time has come to the ring; with an empty ring, the first whose time comes
// by `until_ps`. False: there is nobody.
bool Hosts::join_due(Link& link, std::uint64_t until_ps) {
    Pacer& pacer = pacers_[link.pacer];
    if (link.ring == kNone && !pacer.empty() && pacer.first_ps() > link.busy_until_ps) {
        if (pacer.first_ps() > until_ps) {
            return false;
        }
        link.busy_until_ps = pacer.first_ps();
    }
    while (!pacer.empty() && pacer.first_ps() <= link.busy_until_ps) {
        join_ring(pacer.take_first());
    }
    return true;
}

// A rank goes round all its links with its packets whatever flows they are of: with path numbers by
// flow, many flows would load the links at random. The slip keeps a number of flows that has a
// common divisor with the number of links from tying each flow to one of them. An odd factor makes
// ranks that follow each other begin with different links.
std::uint32_t Hosts::next_path(std::uint32_t rank) {
    constexpr std::uint32_t slip = 61;
    constexpr std::uint32_t spread = 0x9e3779b1U;
    const std::uint32_t count = paths_[rank]++;
    return first_path_ + rank * spread + count + count / slip;
}

std::uint32_t Hosts::make_data(std::uint32_t flow_id,
                               std::uint32_t sequence,
                               std::uint64_t start_ps) {
    const std::uint32_t id = links_.packets().allocate();
    Flow& flow = flows_[flow_id];
    ++flow.holds;
    Packet& packet = links_.packets()[id];
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

// Counts it, and says so where all that is sent has been sent before and nothing comes of it.
void Hosts::repeat(const Flow& flow, std::uint32_t link) {
    links_.count_repeat(link);
    if (++vain_ > kMostVain) {
        throw SimulationError(fmt::format(
            "no progress: {} packets have been sent again since the last one that was missing "
            "arrived; one of them is on its way from rank {} to rank {}, of whose {} packets {} "
            "are there",
            kMostVain,
            flow.source,
            flow.destination,
            flow.packets,
            flow.received));
    }
}

void Hosts::release(std::uint32_t packet) {
    const std::uint32_t flow = links_.packets()[packet].flow;
    links_.packets().free(packet);
    let_go(flow);
}

void Hosts::let_go(std::uint32_t id) {
    Flow& flow = flows_[id];
    if (--flow.holds == 0 && flow.complete) {
        free_flow(id);
    }
}

void Hosts::free_flow(std::uint32_t id) {
    const std::uint32_t connection_id = flows_[id].connection;
    flows_[id].live = false;
    std::erase(connections_[connection_id].again, id);
    remove_feeders(id);
    flows_.free(id);
    release_connection(connection_id);
}

void Hosts::release_connection(std::uint32_t connection_id) {
    Connection& connection = connections_[connection_id];
    if (--connection.flows > 0) {
        return;
    }
    if (connection.channel == kOneMessage || !transport_->remembers()) {
        if (connection.channel != kOneMessage) {
            connection_of_.erase({(std::uint64_t{connection.source} << 32) | connection.destination,
                                  connection.channel});
        }
        connection = {};
        connections_.free(connection_id);
    }
}

void Hosts::deliver(std::uint32_t id) {
    flows_[id].complete = true;
    ++flows_[id].holds;
    const std::uint32_t connection_id = flows_[id].connection;
    // A callback may send on the connection: it is kept until all have been told.
    ++connections_[connection_id].flows;
    for (std::uint32_t first = connections_[connection_id].first;
         first != kNone && flows_[first].complete;
         first = connections_[connection_id].first) {
        Flow& flow = flows_[first];
        Connection& connection = connections_[connection_id];
        connection.first = flow.behind;
        if (connection.first == kNone) {
            connection.last = kNone;
        }
        const Callback sent = std::exchange(flow.sent, {});
        const Callback delivered = flow.delivered;
        let_go(first);
        if (sent) {
            sent();
        }
        delivered();
    }
    release_connection(connection_id);
}

std::uint64_t Hosts::line_bits_per_s(std::uint32_t flow) const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = flows_[flow].first_feeder; i != kNone; i = feeders_[i].sibling) {
        sum = saturating_add(sum, links_.class_of(feeders_[i].link).rate.bits_per_s);
    }
    return sum;
}

}  // namespace astra::packet
