// The packet backend for callers that build it by hand (tests, benchmarks).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "astra/config/config_view.h"
#include "network/backend/backend.h"
#include "network/backend/packet/fabric.h"
#include "network/backend/packet/transport.h"

namespace astra::packet {

class PacketBackend final : public NetworkBackend {
  public:
    // Reads the section "packet" of `network`. Throws ConfigError.
    PacketBackend(EventQueue& queue, Routing& routing, const ConfigView& network);

    SimTime send(const Message& message,
                 SimTime at,
                 Callback delivered,
                 Callback sent = {}) override {
        fabric_.send(message, at, delivered, sent);
        return {kMaxPs};
    }
    std::vector<LinkRecord> link_records() const override { return fabric_.link_records(); }
    void set_link(LinkId link, bool up) override { fabric_.set_link(link, up); }
    void sample(std::vector<LinkSample>& links) override;
    // Bytes on the wire up to now (of the packet that is leaving, the part that has left), and
    // bytes that wait for it.
    std::uint64_t wire_bytes(std::uint32_t link) { return fabric_.wire_bytes(link); }
    std::uint64_t waiting_bytes(std::uint32_t link) { return fabric_.waiting_bytes(link); }
    Fabric& fabric() { return fabric_; }

  private:
    Fabric fabric_;
    std::unique_ptr<Transport> transport_;
};

// Reads the section "packet" without building anything. Throws ConfigError.
void check_settings(const ConfigView& network);

// The transport that `network.packet.transport` names.
const TransportInfo& chosen_transport(const ConfigView& network);

}  // namespace astra::packet
