#include "network/backend/packet/flow_control.h"

#include <algorithm>

#include "astra/core/check.h"
#include "astra/core/types.h"
#include "network/backend/packet/packet.h"

namespace astra::packet {

namespace {

constexpr std::uint64_t kPsBits = 8'000'000'000'000ULL;

// What a link of that rate brings in a time, rounded up.
std::uint64_t bytes_in(std::uint64_t bits_per_s, std::uint64_t time_ps) {
    using Wide = unsigned __int128;
    const Wide bytes = (static_cast<Wide>(bits_per_s) * time_ps + kPsBits - 1) / kPsBits;
    return bytes > kNever ? kNever : static_cast<std::uint64_t>(bytes);
}

}  // namespace

FlowControl::FlowControl(const FlowControlSettings& settings,
                         std::span<const LinkInfo> links,
                         std::uint32_t nodes,
                         std::uint32_t ranks,
                         std::uint32_t full_bytes)
    : settings_(settings),
      ranks_(ranks),
      full_bytes_(full_bytes),
      links_(links.size()),
      nodes_(nodes),
      out_(links.size()) {
    for (std::uint32_t id = 0; id < links.size(); ++id) {
        const LinkInfo& info = links[id];
        LinkState& link = links_[id];
        link.from = info.from;
        link.to = info.to;
        // Nothing waits before a link without a limit; it can bring any amount at once.
        const bool endless = info.bits_per_s == 0;
        // Until the pause has come back and the last packet that left before it is here; the packet
        // that made it too much, one on the wire at either end (see the paper, section 4).
        link.headroom_bytes =
            settings.headroom_bytes != kNever ? settings.headroom_bytes
            : endless
                ? kNever
                : saturating_add(bytes_in(info.bits_per_s, 2 * info.latency_ps), 3 * full_bytes_);
        NodeState& node = nodes_[info.to];
        node.shared_bytes = saturating_add(
            node.shared_bytes,
            settings.shared_bytes != 0
                ? settings.shared_bytes
                : (endless ? kNever / 2 : bytes_in(info.bits_per_s, settings.shared_ps)));
        ++nodes_[info.from].outs;
    }
    std::uint32_t sum = 0;
    for (NodeState& node : nodes_) {
        node.first_out = sum;
        sum += node.outs;
        node.outs = 0;
    }
    for (std::uint32_t id = 0; id < links.size(); ++id) {
        NodeState& node = nodes_[links[id].from];
        out_[node.first_out + node.outs++] = id;
    }
}

std::uint64_t FlowControl::threshold_bytes(const NodeState& node) const {
    const std::uint64_t left_bytes = node.shared_bytes - node.used_bytes;
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(left_bytes) *
                                      settings_.share_permille / 1000);
}

bool FlowControl::would_stop(std::uint32_t ingress, std::uint32_t bytes) const {
    const LinkState& link = links_[ingress];
    const NodeState& node = nodes_[link.to];
    return !link.stopped && (link.shared_bytes + bytes > threshold_bytes(node) ||
                             bytes > node.shared_bytes - node.used_bytes);
}

FlowControl::Admission FlowControl::admit(std::uint32_t ingress, std::uint32_t bytes) {
    LinkState& link = links_[ingress];
    NodeState& node = nodes_[link.to];
    const bool stops = would_stop(ingress, bytes);
    if (!link.stopped && !stops) {
        link.shared_bytes += bytes;
        node.used_bytes += bytes;
        return Admission::Kept;
    }
    if (link.headroom_used_bytes + bytes > link.headroom_bytes) {
        return Admission::Refused;
    }
    link.headroom_used_bytes += bytes;
    if (stops) {
        link.stopped = true;
        node.stopped.push_back(ingress);
        return Admission::KeptAndStop;
    }
    return Admission::Kept;
}

void FlowControl::release(std::uint32_t ingress, std::uint32_t bytes) {
    LinkState& link = links_[ingress];
    NodeState& node = nodes_[link.to];
    const std::uint64_t from_headroom = std::min<std::uint64_t>(link.headroom_used_bytes, bytes);
    const std::uint64_t from_shared = bytes - from_headroom;
    ASTRA_CHECK(from_shared <= link.shared_bytes && from_shared <= node.used_bytes,
                "more data left a switch than came");
    link.headroom_used_bytes -= from_headroom;
    link.shared_bytes -= from_shared;
    node.used_bytes -= from_shared;
    if (node.stopped.empty()) {
        return;
    }
    const std::uint64_t threshold = threshold_bytes(node);
    std::erase_if(node.stopped, [&](std::uint32_t id) {
        LinkState& stopped = links_[id];
        const bool resumes =
            stopped.headroom_used_bytes == 0 &&
            (stopped.shared_bytes == 0 || stopped.shared_bytes + 2 * full_bytes_ <= threshold);
        if (resumes) {
            stopped.stopped = false;
            resumed_.push_back(id);
        }
        return resumes;
    });
}

}  // namespace astra::packet
