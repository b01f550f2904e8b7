#include "network/backend/packet/packet_backend.h"

#include <algorithm>
#include <string>

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
    fabric_.observe();
    for (std::uint32_t link = 0; link < fabric_.links(); ++link) {
        links.push_back(
            {fabric_.wire_bytes(link), fabric_.waiting_bytes(link), fabric_.interval(link)});
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

namespace {

void warn_of_settings(const ConfigView& network, Warnings& warnings) {
    const ConfigView section = network.section("packet");
    const TransportInfo& chosen = chosen_transport(network);
    const std::string why = "the transport is " + std::string(chosen.name);
    if (chosen.goes_back && network.has("routing")) {
        const std::string routing = network.at("routing").as_string();
        if (routing == "spray" || routing == "adaptive") {
            warnings.add(network.at("routing").path() + ": " + routing +
                         " lets packets overtake each other, and " + std::string(chosen.name) +
                         " sends everything again from the one on that was overtaken: expected "
                         "auto, ecmp or a transport that takes packets in any order");
        }
    }
    for (const TransportInfo* transport : transports()) {
        if (transport != &chosen && section.has(transport->name)) {
            warn_of_idle_section(section.at(transport->name), why, warnings);
        }
    }
    if (chosen.warn != nullptr && section.has(chosen.name)) {
        chosen.warn(read_settings(section), section.at(chosen.name), warnings);
    }
    if (section.has("buffer") && !chosen.limits_buffers(section.section(chosen.name))) {
        warnings.add(section.at("buffer").path() + ": no effect: " + why +
                     ", which loses nothing in full buffers");
    }
}

// Packets that are stored and forwarded, under transport none. When packet p has left link l, at
//   D(p, l) = max(D(p, l - 1), D(p - 1, l)) + w(l),
// the n full packets before the last one have, as they are all alike,
//   D(n, l) = w(1) + … + w(l) + (n - 1) · max(w(1), …, w(l)):
// the makespan of equal jobs in a flow shop. Latencies only shift what happens on a link in time.
Duration time_alone(const Path& path, Bytes size) {
    const Settings settings;
    const std::uint64_t full_packets = size.count == 0 ? 0 : (size.count - 1) / settings.mtu_bytes;
    const Bytes full{settings.full_bytes()};
    const Bytes last{size.count - full_packets * settings.mtu_bytes + settings.header_bytes};
    Duration sum;
    Duration slowest;
    Duration gone;  // the last packet has left the link
    for (const Path::Stretch& stretch : path.stretches) {
        const Duration full_wire = transfer_time(full, stretch.rate);
        const Duration last_wire = transfer_time(last, stretch.rate);
        slowest = std::max(slowest, full_wire);
        for (std::uint32_t link = 0; link < stretch.links; ++link) {
            sum = sum + full_wire;
            const Duration before =
                full_packets == 0 ? Duration{} : sum + (full_packets - 1) * slowest;
            gone = std::max(gone, before) + last_wire;
        }
    }
    return gone + path.latency;
}

}  // namespace

}  // namespace astra::packet

namespace astra {

extern const BackendInfo kFlowBackend;
extern const BackendInfo kPacketBackend;
const BackendInfo kPacketBackend = {
    .name = "packet",
    .summary = "packets in queues, with the congestion control of a transport",
    .alone = packet::time_alone,
    .contention = Contention::Packet,
    .predicted_by = &kFlowBackend,
    .can_split = true,
    .links_may_fail = true,
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
    .check = packet::check_settings,
    .warn = packet::warn_of_settings};

}  // namespace astra
