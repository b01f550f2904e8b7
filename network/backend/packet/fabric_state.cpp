// What is asked of a fabric from outside: links that fail, and what links carried.
#include <algorithm>

#include "network/backend/packet/fabric.h"

namespace astra::packet {

void Fabric::set_link(std::uint32_t id, bool up) {
    if (links_[id].up == up) {
        return;
    }
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
        if (link == id || links_[link].ring != kNone || links_[link].pacer != kNone) {
            advance(link, now_ps());
        }
    }
    links_[id].up = up;
    routing_.set_up(id, up);
    // One that was down from the start may only come up.
    changed_ = true;
    if (!up) {
        lose_all(id);
    }
    renew_feeders();
}

// Every flow may now start on other links. Those that were about to send join the rings again, in
// the order of their slots.
void Fabric::renew_feeders() {
    for (Link& link : links_) {
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
            if (feeders_[i].place != Feeder::Place::Idle) {
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
            wake(id);
        }
        let_go(id);
    }
}

std::vector<LinkRecord> Fabric::link_records() const {
    std::vector<LinkRecord> records;
    const Topology& topology = routing_.topology();
    for (std::uint32_t id = 0; id < links_.size(); ++id) {
        const Link& link = links_[id];
        const LinkCounters counted = counters_.empty() ? LinkCounters{} : counters_[id];
        if (link.wire_bytes == 0 && counted.drops == 0) {
            continue;
        }
        const LinkEnds ends = topology.link_ends(id);
        LinkRecord& record = records.emplace_back();
        record.from = topology.node_name(ends.from);
        record.to = topology.node_name(ends.to);
        record.bytes = {link.wire_bytes};
        record.busy = {link.busy_ps};
        record.dimension = topology.wiring_of_link(id);
        record.payload = {link.payload_bytes};
        record.peak_queue = {link.peak_bytes};
        record.pauses = counted.pauses;
        record.marks = counted.marks;
        record.trims = counted.trims;
        record.drops = counted.drops;
    }
    return records;
}

std::uint64_t Fabric::wire_bytes(std::uint32_t id) {
    const std::uint64_t now = now_ps();
    advance(id, now);
    const Link& link = links_[id];
    if (link.busy_until_ps <= now) {
        return link.wire_bytes;
    }
    using Wide = unsigned __int128;
    const std::uint64_t rate = classes_[link.link_class].rate.bits_per_s;
    const Wide left = static_cast<Wide>(link.busy_until_ps - now) * rate / 8'000'000'000'000ULL;
    return link.wire_bytes - std::min(link.wire_bytes, static_cast<std::uint64_t>(left));
}

std::uint64_t Fabric::waiting_bytes(std::uint32_t id) {
    advance(id, now_ps());
    return links_[id].queued_bytes + links_[id].control_bytes;
}

}  // namespace astra::packet
