// What a message costs on a path that nobody else uses, packet by packet: written down without a
// queue, to compare the packet backend with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "astra/core/types.h"
#include "network/topology/topology.h"

namespace astra {

struct PacketSizes {
    std::uint64_t mtu_bytes = 4096;
    std::uint64_t header_bytes = 64;
    bool cut_through = false;
};

// With transport none, over the links of `path` in order.
//
// Packet p leaves link l as soon as it may be sent on (the whole of it is there; with cut-through
// its first byte, but not so early that a faster link would run out of bytes) and packet p - 1 has
// left it; it is at the end one wire time and one latency later.
inline std::uint64_t packet_law(std::span<const LinkProperties> path,
                                Bytes size,
                                const PacketSizes& sizes) {
    std::vector<std::uint64_t> free_ps(path.size(), 0);
    std::uint64_t left = size.count;
    std::uint64_t arrival_ps = 0;
    bool first = true;
    while (first || left > 0) {
        first = false;
        const std::uint64_t payload = std::min(left, sizes.mtu_bytes);
        left -= payload;
        std::uint64_t ready_ps = 0;
        for (std::size_t l = 0; l < path.size(); ++l) {
            const Bytes bytes{payload + sizes.header_bytes};
            const std::uint64_t wire_ps = transfer_time(bytes, path[l].bandwidth).ps;
            const std::uint64_t start_ps = std::max(ready_ps, free_ps[l]);
            free_ps[l] = start_ps + wire_ps;
            arrival_ps = start_ps + wire_ps + path[l].latency.ps;
            ready_ps = arrival_ps;
            if (sizes.cut_through && l + 1 < path.size()) {
                const std::uint64_t next_ps = transfer_time(bytes, path[l + 1].bandwidth).ps;
                ready_ps -= std::min(wire_ps, next_ps);
            }
        }
    }
    return arrival_ps;
}

}  // namespace astra
