#include "network/backend/packet/packet_backend.h"

#include "astra/config/registry_choice.h"

namespace astra::packet {

const TransportInfo& chosen_transport(const ConfigView& network) {
    return choose(network.section("packet"), "transport", "none", transports());
}

PacketBackend::PacketBackend(EventQueue& queue, Routing& routing, const ConfigView& network)
    : fabric_(queue, routing, read_settings(network.section("packet"))) {
    const ConfigView section = network.section("packet");
    const TransportInfo& chosen = chosen_transport(network);
    for (const TransportInfo* transport : transports()) {
        if (transport == &chosen) {
            transport_ = chosen.build(fabric_, fabric_.settings(), section.section(chosen.name));
        } else if (section.has(transport->name)) {
            transport->check(fabric_.settings(), section.at(transport->name));
        }
    }
    fabric_.attach(*transport_);
}

void PacketBackend::sample(std::vector<LinkSample>& links) {
    links.clear();
    for (std::uint32_t link = 0; link < fabric_.links(); ++link) {
        links.push_back({fabric_.wire_bytes(link), fabric_.waiting_bytes(link)});
    }
}

void check_settings(const ConfigView& network) {
    const ConfigView section = network.section("packet");
    const Settings settings = read_settings(section);
    const TransportInfo& chosen = chosen_transport(network);
    for (const TransportInfo* transport : transports()) {
        if (transport == &chosen || section.has(transport->name)) {
            transport->check(settings, section.section(transport->name));
        }
    }
}

}  // namespace astra::packet

namespace astra {

extern const BackendInfo kPacketBackend;
const BackendInfo kPacketBackend = {
    .name = "packet",
    .summary = "packets in queues, with the congestion control of a transport",
    .law = PathLaw::Shared,
    .can_split = true,
    .links_may_fail = true,
    .has_packets = true,
    .usual_routing =
        [](const ConfigView& network) {
            return packet::chosen_transport(network).in_order ? RoutePolicy::Ecmp
                                                              : RoutePolicy::Spray;
        },
    .build = [](EventQueue& queue,
                Routing& routing,
                const ConfigView& network) -> std::unique_ptr<NetworkBackend> {
        return std::make_unique<packet::PacketBackend>(queue, routing, network);
    },
    .check = packet::check_settings};

}  // namespace astra
