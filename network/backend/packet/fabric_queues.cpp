// Output ports, what they refuse, and what becomes of packets that are lost.
#include <algorithm>

#include "astra/core/mix.h"
#include "network/backend/packet/fabric.h"

namespace astra::packet {

void Fabric::enqueue(std::uint32_t id, std::uint32_t packet, std::uint32_t ingress) {
    const std::uint64_t now = now_ps();
    advance(id, now);
    Link& link = links_[id];
    const bool is_control = packets_[packet].is_control();
    if (!link.up) [[unlikely]] {
        drop(id, packet);
        return;
    }
    if (link.busy_until_ps <= now && (is_control || !link.paused)) {
        link.busy_until_ps = now;
        start(link, packet);
    } else if (is_control) {
        queue_control(id, packet);
    } else {
        queue_data(id, packet, ingress);
    }
    arm(id);
}

void Fabric::queue_control(std::uint32_t id, std::uint32_t packet) {
    Link& link = links_[id];
    const std::uint32_t bytes = packets_[packet].bytes();
    if (link.control_bytes + std::uint64_t{bytes} >
        std::min<std::uint64_t>(classes_[link.link_class].limits.control_bytes, kNone)) {
        drop(id, packet);
        return;
    }
    link.control_bytes += bytes;
    packets_.append(link.control, packet);
}

void Fabric::queue_data(std::uint32_t id, std::uint32_t packet, std::uint32_t ingress) {
    Link& link = links_[id];
    const PortLimits& limits = classes_[link.link_class].limits;
    const std::uint32_t bytes = packets_[packet].bytes();
    if (limits.mark_least_bytes != kNever && marks(limits, link.queued_bytes)) {
        packets_[packet].mark();
        ++counters(id).marks;
    }
    if (flow_control_) {
        if (!admit(id, packet, ingress)) {
            return;
        }
    } else if (link.queued_bytes + bytes > limits.buffer_bytes) {
        if (limits.when_full == PortLimits::WhenFull::Trim) {
            trim(id, packet);
            return;
        }
        if (limits.when_full == PortLimits::WhenFull::Drop) {
            drop(id, packet);
            return;
        }
    }
    packets_.append(link.data, packet);
    link.queued_bytes += bytes;
    link.peak_bytes = std::max(link.peak_bytes, link.queued_bytes);
}

bool Fabric::marks(const PortLimits& limits, std::uint64_t waiting_bytes) {
    if (waiting_bytes <= limits.mark_least_bytes) {
        return false;
    }
    if (waiting_bytes >= limits.mark_most_bytes) {
        return true;
    }
    using Wide = unsigned __int128;
    const std::uint64_t chance = static_cast<std::uint64_t>(
        static_cast<Wide>(limits.most_mark) * (waiting_bytes - limits.mark_least_bytes) /
        (limits.mark_most_bytes - limits.mark_least_bytes));
    return (random() >> 32) < chance;
}

// The packet that is trimmed is the one that comes or, every other time, the last of the queue, so
// that senders in step do not always hit the same flow (Handley et al., section 3.1).
void Fabric::trim(std::uint32_t id, std::uint32_t packet) {
    Link& link = links_[id];
    if ((random() & 1) != 0 && !link.data.empty()) {
        const std::uint32_t last = link.data.last;
        Packet& waiting = packets_[last];
        link.queued_bytes -= waiting.bytes();
        std::swap(waiting, packets_[packet]);
        std::swap(waiting.next, packets_[packet].next);
        link.queued_bytes += waiting.bytes();
        link.peak_bytes = std::max(link.peak_bytes, link.queued_bytes);
    }
    Packet& trimmed = packets_[packet];
    trimmed.set(PacketKind::Trimmed, std::min(trimmed.bytes(), settings_.control_bytes));
    ++counters(id).trims;
    queue_control(id, packet);
}

// Whether the switch takes data that has to wait; sends the pauses that this needs.
bool Fabric::admit(std::uint32_t id, std::uint32_t packet, std::uint32_t ingress) {
    if (ingress == kNone || !flow_control_->covers(ingress)) {
        packets_[packet].tag = kNever;
        return true;
    }
    const std::uint32_t bytes = packets_[packet].bytes();
    const std::uint32_t node = flow_control_->switch_of(ingress);
    if (flow_control_->would_stop(ingress, bytes)) {
        // What has left other queues in the meantime may make room.
        for (const std::uint32_t out : flow_control_->links_out_of(node)) {
            advance(out, now_ps());
        }
    }
    const FlowControl::Admission admission = flow_control_->admit(ingress, bytes);
    if (admission == FlowControl::Admission::Refused) {
        drop(id, packet);
        return false;
    }
    packets_[packet].tag = ingress;
    if (admission == FlowControl::Admission::KeptAndStop) {
        ++counters(ingress).pauses;
        queue_.schedule_after(
            {classes_[links_[ingress].link_class].latency_ps},
            Callback::to<&Fabric::on_pause>(*this, (std::uint64_t{ingress} << 1) | 1));
        for (const std::uint32_t out : flow_control_->links_out_of(node)) {
            if (!links_[out].data.empty()) {
                arm(out);
            }
        }
    }
    return true;
}

std::uint32_t Fabric::take_data(Link& link) {
    const std::uint32_t id = packets_.take_first(link.data);
    const Packet& packet = packets_[id];
    link.queued_bytes -= packet.bytes();
    if (flow_control_ && packet.tag != kNever) {
        flow_control_->release(static_cast<std::uint32_t>(packet.tag), packet.bytes());
        for (const std::uint32_t ingress : flow_control_->resumed()) {
            queue_.schedule_after(
                {classes_[links_[ingress].link_class].latency_ps},
                Callback::to<&Fabric::on_pause>(*this, std::uint64_t{ingress} << 1));
        }
        flow_control_->resumed().clear();
    }
    return id;
}

// A pause frame comes to the sender of a link: bit 0 says stop or go.
void Fabric::on_pause(std::uint64_t link_and_stop) {
    const auto id = static_cast<std::uint32_t>(link_and_stop >> 1);
    Link& link = links_[id];
    advance(id, now_ps());
    link.paused = (link_and_stop & 1) != 0;
    if (!link.paused) {
        link.busy_until_ps = std::max(link.busy_until_ps, now_ps());
        advance(id, now_ps());
        arm(id);
    }
}

void Fabric::drop(std::uint32_t link, std::uint32_t packet) {
    ++counters(link).drops;
    lose(packet);
}

void Fabric::lose(std::uint32_t id) {
    const PacketKind kind = packets_[id].kind();
    if (kind == PacketKind::Congestion) {
        release(id);
        return;
    }
    if (kind == PacketKind::Data || kind == PacketKind::Trimmed) {
        transport_->lose(id);
    }
    queue_.schedule_after(settings_.timeout, Callback::to<&Fabric::on_timeout>(*this, id));
}

void Fabric::on_timeout(std::uint64_t argument) {
    const auto id = static_cast<std::uint32_t>(argument);
    const PacketKind kind = packets_[id].kind();
    if (kind == PacketKind::Data || kind == PacketKind::Trimmed) {
        transport_->time_out(id);
        release(id);
    } else if (flows_[packets_[id].flow].complete) {
        release(id);  // nobody needs it any more, and there may be no path
    } else {
        send_on(id);
    }
}

void Fabric::lose_all(std::uint32_t id) {
    Link& link = links_[id];
    std::vector<std::uint32_t> lost;
    while (!link.flight.empty()) {
        lost.push_back(packets_.take_first(link.flight));
    }
    while (!link.control.empty()) {
        lost.push_back(packets_.take_first(link.control));
    }
    link.control_bytes = 0;
    while (!link.data.empty()) {
        lost.push_back(take_data(link));
    }
    link.busy_until_ps = now_ps();
    for (const std::uint32_t packet : lost) {
        drop(id, packet);
    }
}

LinkCounters& Fabric::counters(std::uint32_t link) {
    if (counters_.empty()) {
        counters_.resize(links_.size());
    }
    return counters_[link];
}

std::uint64_t Fabric::random() {
    const std::uint64_t value = mix(random_state_);
    random_state_ += kMixStep;
    return value;
}

}  // namespace astra::packet
