// Priority flow control (IEEE 802.1Qbb) of data in switches: whom to pause and when.
//
// A switch accounts data that waits to the link that it came in by. Once a link holds more than a
// share of what is free of the switch's shared buffer, it is paused, and what still comes goes to
// the link's own headroom, until it holds two packets less than its share again (Zhu et al.,
// SIGCOMM 2015, section 4: dynamic thresholds). Ranks that forward packets never pause anybody.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace astra::packet {

struct FlowControlSettings {
    // Shared buffer of a switch for each of its incoming links: an amount, or, if 0, what the link
    // brings in the given time.
    std::uint64_t shared_bytes = 0;
    std::uint64_t shared_ps = 0;
    std::uint64_t share_permille = 1000;  // of the free shared buffer that one link may hold
    // Headroom of a link; kNever: as much as can come before a pause takes effect.
    std::uint64_t headroom_bytes = 0;
};

class FlowControl {
  public:
    struct LinkInfo {
        std::uint32_t from = 0;  // node
        std::uint32_t to = 0;
        std::uint64_t bits_per_s = 0;
        std::uint64_t latency_ps = 0;
    };
    enum class Admission : std::uint8_t { Kept, KeptAndStop, Refused };

    // `full_bytes` is the largest packet. Nodes below `ranks` are not switches.
    FlowControl(const FlowControlSettings& settings,
                std::span<const LinkInfo> links,
                std::uint32_t nodes,
                std::uint32_t ranks,
                std::uint32_t full_bytes);

    bool covers(std::uint32_t ingress) const { return links_[ingress].to >= ranks_; }
    // Data that came in by `ingress` has to wait. KeptAndStop: the link is to be paused.
    Admission admit(std::uint32_t ingress, std::uint32_t bytes);
    // It does not wait any more. The links that may send again are left in resumed().
    void release(std::uint32_t ingress, std::uint32_t bytes);
    std::vector<std::uint32_t>& resumed() { return resumed_; }

    // Whether packets that leave this link's queue may let somebody send again.
    bool watches(std::uint32_t link) const { return !nodes_[links_[link].from].stopped.empty(); }
    std::span<const std::uint32_t> links_out_of(std::uint32_t node) const {
        return {out_.data() + nodes_[node].first_out, nodes_[node].outs};
    }
    std::uint32_t switch_of(std::uint32_t ingress) const { return links_[ingress].to; }
    bool would_stop(std::uint32_t ingress, std::uint32_t bytes) const;

  private:
    struct LinkState {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        std::uint64_t shared_bytes = 0;
        std::uint64_t headroom_used_bytes = 0;
        std::uint64_t headroom_bytes = 0;
        bool stopped = false;
    };
    struct NodeState {
        std::uint64_t used_bytes = 0;  // of the shared buffer
        std::uint64_t shared_bytes = 0;
        std::uint32_t first_out = 0;
        std::uint32_t outs = 0;
        std::vector<std::uint32_t> stopped;  // links
    };
    std::uint64_t threshold_bytes(const NodeState& node) const;

    FlowControlSettings settings_;
    std::uint32_t ranks_;
    std::uint64_t full_bytes_;
    std::vector<LinkState> links_;
    std::vector<NodeState> nodes_;
    std::vector<std::uint32_t> out_;  // links by the node that they leave
    std::vector<std::uint32_t> resumed_;
};

}  // namespace astra::packet
