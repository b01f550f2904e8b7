#include "network/backend/packet/forwarding.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "astra/core/check.h"
#include "astra/core/error.h"
#include "network/backend/packet/hosts.h"
#include "network/backend/packet/links.h"

namespace astra::packet {

Forwarding::Forwarding(
    EventQueue& queue, Routing& routing, bool cut_through, Links& links, Hosts& hosts)
    : queue_(queue),
      routing_(routing),
      links_(links),
      hosts_(hosts),
      cut_through_(cut_through),
      hashed_(routing.policy() == RoutePolicy::DimensionOrder ||
              routing.policy() == RoutePolicy::Ecmp) {}

void Forwarding::forward(std::uint32_t node, std::uint32_t id, std::uint32_t ingress) {
    Packet& packet = links_.packets()[id];
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
        links_.drop(ingress, id);
        return;
    }
    ASTRA_CHECK(link != kNone, "a whole fabric has no link to go on by");
    if (cut_through_ && ingress != kNone) {
        const std::uint32_t bytes = packet.bytes();
        const std::uint64_t in_ps = links_.class_of(ingress).wire_ps(bytes);
        const std::uint64_t out_ps = links_.class_of(link).wire_ps(bytes);
        if (out_ps < in_ps) {
            // On a faster link it must not end before its last byte is here.
            packet.tag = ingress;
            queue_.schedule_after({in_ps - out_ps},
                                  Callback::to<&Forwarding::on_late_forward>(
                                      *this, (std::uint64_t{id} << 32) | link));
            return;
        }
    }
    links_.enqueue(link, id, ingress);
}

void Forwarding::on_late_forward(std::uint64_t packet_and_link) {
    const auto packet = static_cast<std::uint32_t>(packet_and_link >> 32);
    const auto link = static_cast<std::uint32_t>(packet_and_link);
    links_.enqueue(link, packet, static_cast<std::uint32_t>(links_.packets()[packet].tag));
}

// Spraying numbers the paths: at a node with n links to go on by, the number mod n chooses, and the
// number / n is left for the nodes behind. Consecutive packets so go round every node's links.
std::uint32_t Forwarding::choose(std::uint32_t node,
                                 std::span<const std::uint32_t> links,
                                 Packet& packet) {
    const auto count = static_cast<std::uint32_t>(links.size());
    if (hashed_) {
        const Flow& flow = hosts_.flow(packet.flow);
        const bool onwards = packet.destination == flow.destination;
        return links[Routing::hashed_choice(onwards ? flow.hash : flow.reverse_hash, node, count)];
    }
    if (routing_.policy() == RoutePolicy::Spray) {
        const std::uint32_t choice = packet.path % count;
        packet.path /= count;
        return links[choice];
    }
    return least_loaded(links, packet);
}

// The link with the fewest bytes that wait wins, then the wire that is free first, then in turn by
// the path number.
std::uint32_t Forwarding::least_loaded(std::span<const std::uint32_t> links, Packet& packet) {
    const auto count = static_cast<std::uint32_t>(links.size());
    const std::uint64_t now = queue_.now().ps;
    const std::uint32_t turn = packet.path++ % count;
    std::uint32_t best = kNone;
    std::pair<std::uint64_t, std::uint64_t> least{kNever, kNever};
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t id = links[(turn + i) % count];
        links_.advance(id, now);
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
bool Forwarding::reaches(std::uint32_t node, std::uint32_t destination) {
    for (std::uint32_t steps = 0; node != destination; ++steps) {
        const std::span<const std::uint32_t> links = routing_.next_links(node, destination);
        if (links.empty() || steps > routing_.topology().nodes()) {
            return false;
        }
        node = links_[links[0]].to;
    }
    return true;
}

void Forwarding::fail_no_path(std::uint32_t source, std::uint32_t destination) const {
    const Topology& topology = routing_.topology();
    throw SimulationError(
        fmt::format("no path from {}{} to rank {}: links that are down cut the network",
                    source < topology.ranks() ? "rank " : "",
                    topology.node_name(source),
                    destination));
}

PathCost Forwarding::path_cost(std::uint32_t source, std::uint32_t destination) {
    PathCost cost;
    std::uint32_t node = source;
    while (node != destination) {
        const std::span<const std::uint32_t> links = routing_.next_links(node, destination);
        ASTRA_CHECK(!links.empty(), "flows of a cut pair are refused");
        const Link& link = links_[links[0]];
        const LinkClass& link_class = links_.class_of(links[0]);
        ++cost.links;
        cost.latency_ps = saturating_add(cost.latency_ps, link_class.latency_ps);
        cost.full_ps = saturating_add(cost.full_ps, link_class.full_ps);
        cost.control_ps = saturating_add(cost.control_ps, link_class.control_ps);
        node = link.to;
    }
    return cost;
}

std::uint64_t Forwarding::path_bits_per_s(const Flow& flow) {
    std::uint64_t least = kNever;
    std::uint32_t node = flow.source;
    while (node != flow.destination) {
        std::span<const std::uint32_t> links = routing_.next_links(node, flow.destination);
        ASTRA_CHECK(!links.empty(), "flows of a cut pair are refused");
        if (hashed_) {
            const auto count = static_cast<std::uint32_t>(links.size());
            links = links.subspan(Routing::hashed_choice(flow.hash, node, count), 1);
        }
        std::uint64_t sum = 0;
        for (const std::uint32_t link : links) {
            const std::uint64_t rate = links_.class_of(link).rate.bits_per_s;
            sum = saturating_add(sum, rate == 0 ? kNever : rate);
        }
        least = std::min(least, sum);
        node = links_[links[0]].to;
    }
    return least == kNever ? 0 : least;
}

void Forwarding::send_on(std::uint32_t id) {
    forward(hosts_.flow(links_.packets()[id].flow).destination, id, kNone);
}

void Forwarding::set_up(LinkId link, bool up) {
    routing_.set_up(link, up);
    changed_ = true;
}

std::span<const std::uint32_t> Forwarding::first_links(const Flow& flow) {
    if (changed_ && !flow.complete && !reaches(flow.source, flow.destination)) {
        fail_no_path(flow.source, flow.destination);
    }
    const std::span<const std::uint32_t> links = routing_.next_links(flow.source, flow.destination);
    if (hashed_ && links.size() > 1) {
        const auto count = static_cast<std::uint32_t>(links.size());
        return links.subspan(Routing::hashed_choice(flow.hash, flow.source, count), 1);
    }
    return links;
}

}  // namespace astra::packet
