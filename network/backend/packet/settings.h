// The keys of network.packet that do not belong to a transport.
#pragma once

#include <cstdint>
#include <optional>

#include "astra/config/config_view.h"
#include "astra/core/types.h"

namespace astra::packet {

struct Settings {
    std::uint32_t mtu_bytes = 4096;    // payload of a full packet
    std::uint32_t header_bytes = 64;   // of a data packet
    std::uint32_t control_bytes = 64;  // a whole control packet, and a trimmed one
    bool cut_through = false;
    std::optional<std::uint64_t> buffer_bytes;  // of a port; each transport has its default
    std::uint64_t loss = 0;  // probability that a link loses a packet, in units of 2^-64
    Duration timeout;        // from a loss to the repair that nothing else triggers

    std::uint32_t full_bytes() const { return mtu_bytes + header_bytes; }
};

// Throws ConfigError.
Settings read_settings(const ConfigView& packet);

}  // namespace astra::packet
