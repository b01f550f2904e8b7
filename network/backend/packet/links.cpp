#include "network/backend/packet/links.h"

#include <algorithm>
#include <utility>

#include "astra/core/mix.h"
#include "network/backend/packet/forwarding.h"
#include "network/backend/packet/hosts.h"
#include "network/backend/packet/repair.h"
#include "network/backend/packet/transport.h"

namespace astra::packet {

Links::Links(EventQueue& queue,
             const Topology& topology,
             const Settings& settings,
             std::uint64_t seed,
             Forwarding& forwarding,
             Hosts& hosts,
             Repair& repair)
    : queue_(queue),
      topology_(topology),
      settings_(settings),
      forwarding_(forwarding),
      hosts_(hosts),
      repair_(repair),
      links_(topology.links()),
      random_state_(seed) {
    for (const LinkProperties& properties : topology.classes()) {
        LinkClass& link_class = classes_.emplace_back();
        link_class.rate = properties.bandwidth;
        link_class.latency_ps = properties.latency.ps;
        link_class.full_bytes = settings_.full_bytes();
        link_class.full_ps = transfer_time({link_class.full_bytes}, link_class.rate).ps;
        link_class.control_bytes = settings_.control_bytes;
        link_class.control_ps = transfer_time({link_class.control_bytes}, link_class.rate).ps;
        link_class.clock = TransferClock(link_class.rate);
    }
    for (std::uint32_t id = 0; id < links_.size(); ++id) {
        const LinkEnds ends = topology.link_ends(id);
        links_[id].link_class = topology.link_class(id);
        links_[id].to = ends.to;
    }
    for (const LinkId id : topology.down_links()) {
        links_[index(id)].up = false;
    }
}

void Links::attach(Transport& transport) {
    transport_ = &transport;
    for (LinkClass& link_class : classes_) {
        link_class.limits = transport.limits(link_class);
    }
}

void Links::use_flow_control(const FlowControlSettings& settings) {
    std::vector<FlowControl::LinkInfo> links;
    links.reserve(links_.size());
    for (std::uint32_t id = 0; id < links_.size(); ++id) {
        const LinkEnds ends = topology_.link_ends(id);
        const LinkClass& link_class = classes_[links_[id].link_class];
        links.push_back({ends.from, ends.to, link_class.rate.bits_per_s, link_class.latency_ps});
    }
    flow_control_ = std::make_unique<FlowControl>(
        settings, links, topology_.nodes(), topology_.ranks(), settings_.full_bytes());
}

void Links::on_link(std::uint64_t argument) {
    const auto id = static_cast<std::uint32_t>(argument);
    const std::uint64_t now = queue_.now().ps;
    Link& link = links_[id];
    if (link.armed_ps == now) {
        link.armed_ps = kNever;
    }
    advance(id, now);
    const std::uint32_t first = link.flight.first;
    if (first == kNone || packets_[first].time_ps > now) {
        arm(id);
        return;
    }
    packets_.take_first(link.flight);
    arm(id);
    arrive(id, first);
}

// Packets start one after the other, each when the one before has left the wire. Only what waits
// already is here: whatever comes later calls advance() first.
void Links::start_waiting(std::uint32_t id, std::uint64_t until_ps) {
    Link& link = links_[id];
    while (link.busy_until_ps <= until_ps) {
        const std::uint32_t packet = take_next(id, until_ps);
        if (packet == kNone) {
            return;
        }
        start(link, packet);
        hosts_.started(id);
    }
}

// Control goes first; then forwarded packets and those of the rank before the link take turns.
inline std::uint32_t Links::take_next(std::uint32_t id, std::uint64_t until_ps) {
    Link& link = links_[id];
    const bool data_waits = !link.paused && (!link.data.empty() || link.ring != kNone);
    if (!link.control.empty() &&
        (control_weight_ == 0 || link.control_run < control_weight_ || !data_waits)) {
        link.control_run = static_cast<std::uint8_t>(std::min(link.control_run + 1, 255));
        const std::uint32_t packet = packets_.take_first(link.control);
        link.control_bytes -= packets_[packet].bytes();
        return packet;
    }
    if (link.paused) {
        return kNone;
    }
    const bool hosts_wait = link.ring != kNone || link.pacer != kNone;
    std::uint32_t packet = kNone;
    if (!link.data.empty() && (link.forwarded_turn || !hosts_wait)) {
        link.forwarded_turn = false;
        packet = take_data(link, link.busy_until_ps);
    } else if (hosts_wait) {
        link.forwarded_turn = true;
        // With forwarded packets waiting, a flow of the rank that must wait for its time does not
        // count.
        packet = hosts_.take(id, link.data.empty() ? until_ps : link.busy_until_ps);
        if (packet == kNone && !link.data.empty()) {
            packet = take_data(link, link.busy_until_ps);
        }
    }
    if (packet != kNone) {
        link.control_run = 0;
        return packet;
    }
    if (link.control.empty()) {
        return kNone;
    }
    packet = packets_.take_first(link.control);
    link.control_bytes -= packets_[packet].bytes();
    return packet;
}

void Links::start(Link& link, std::uint32_t id) {
    Packet& packet = packets_[id];
    LinkClass& link_class = classes_[link.link_class];
    const std::uint32_t bytes = packet.bytes();
    const std::uint64_t wire_ps = link_class.wire_ps(bytes);
    const std::uint64_t start_ps = link.busy_until_ps;
    link.busy_until_ps = saturating_add(start_ps, wire_ps);
    link.wire_bytes += bytes;
    link.busy_ps += wire_ps;
    if (!packet.is_control()) {
        link.payload_bytes += bytes - settings_.header_bytes;
    }
    // With cut-through the first byte counts, but for the rank that waits for the whole packet.
    const bool first_byte = settings_.cut_through && packet.destination != link.to;
    packet.time_ps =
        saturating_add(first_byte ? start_ps : link.busy_until_ps, link_class.latency_ps);
    if (packet.time_ps == kNever) [[unlikely]] {
        queue_.schedule_at({kNever}, {});  // says that time is over
    }
    packets_.append(link.flight, id);
}

std::uint64_t Links::next_event_ps(const Link& link) const {
    if (!link.control.empty()) {
        return link.busy_until_ps;
    }
    if (link.paused) {
        return kNever;
    }
    if (!link.data.empty() || link.ring != kNone) {
        return link.busy_until_ps;
    }
    if (link.pacer != kNone && !hosts_.pacer(link.pacer).empty()) {
        return std::max(link.busy_until_ps, hosts_.pacer(link.pacer).first_ps());
    }
    return kNever;
}

// While a packet is on the link, its arrival is early enough for whatever waits; but a switch that
// has paused somebody must know when a packet leaves.
void Links::arm(std::uint32_t id) {
    Link& link = links_[id];
    std::uint64_t when_ps = kNever;
    if (!link.flight.empty()) [[likely]] {
        when_ps = packets_[link.flight.first].time_ps;
        if (flow_control_ && !link.data.empty() && !link.paused && flow_control_->watches(id)) {
            when_ps = std::min(when_ps, link.busy_until_ps);
        }
        if (!watchers_.empty() && watchers_[id] > 0) {
            when_ps = std::min(when_ps, next_event_ps(link));
        }
    } else {
        when_ps = next_event_ps(link);
    }
    if (when_ps < link.armed_ps) {
        link.armed_ps = when_ps;
        queue_.schedule_at({when_ps}, Callback::to<&Links::on_link>(*this, id));
    }
}

void Links::watch(std::uint32_t link) {
    if (watchers_.empty()) {
        watchers_.resize(links_.size());
    }
    ++watchers_[link];
    arm(link);
}

void Links::arrive(std::uint32_t id, std::uint32_t packet) {
    if (settings_.loss != 0 && random() < settings_.loss) [[unlikely]] {
        drop(id, packet);
        return;
    }
    const std::uint32_t node = links_[id].to;
    if (packets_[packet].destination == node) {
        transport_->arrive(packet);
    } else {
        forwarding_.forward(node, packet, id);
    }
}

void Links::enqueue(std::uint32_t id, std::uint32_t packet, std::uint32_t ingress) {
    const std::uint64_t now = queue_.now().ps;
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

void Links::queue_control(std::uint32_t id, std::uint32_t packet) {
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

void Links::queue_data(std::uint32_t id, std::uint32_t packet, std::uint32_t ingress) {
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
    if (!intervals_.empty()) [[unlikely]] {
        queue_changes(link, queue_.now().ps);
        intervals_[id].most_bytes = std::max(intervals_[id].most_bytes, link.queued_bytes + bytes);
    }
    packets_.append(link.data, packet);
    link.queued_bytes += bytes;
    link.peak_bytes = std::max(link.peak_bytes, link.queued_bytes);
}

// While somebody observes, before it does: what has waited until then counts.
void Links::queue_changes(const Link& link, std::uint64_t at_ps) {
    QueueInterval& interval = intervals_[static_cast<std::size_t>(&link - links_.data())];
    using Wide = unsigned __int128;
    interval.byte_ps += static_cast<Wide>(link.queued_bytes) * (at_ps - interval.until_ps);
    interval.until_ps = at_ps;
}

void Links::observe() {
    if (intervals_.empty()) {
        intervals_.resize(links_.size());
        for (std::uint32_t id = 0; id < links_.size(); ++id) {
            intervals_[id].until_ps = intervals_[id].begin_ps = queue_.now().ps;
        }
    }
}

PacketInterval Links::interval(std::uint32_t id) {
    const std::uint64_t now = queue_.now().ps;
    advance(id, now);
    queue_changes(links_[id], now);
    QueueInterval& interval = intervals_[id];
    const LinkCounters counted = counters_.empty() ? LinkCounters{} : counters_[id];
    const std::uint64_t paused_ps = counted.paused_until(now);
    const std::uint64_t length_ps = now - interval.begin_ps;
    PacketInterval packets;
    packets.mean_queue = {
        length_ps == 0 ? 0 : static_cast<std::uint64_t>(interval.byte_ps / length_ps)};
    packets.most_queue = {interval.most_bytes};
    packets.paused = {paused_ps - interval.paused_before_ps};
    packets.marks = counted.marks - interval.before.marks;
    packets.trims = counted.trims - interval.before.trims;
    packets.drops = counted.drops - interval.before.drops;
    packets.repeats = counted.repeats - interval.before.repeats;
    interval = {0, now, now, links_[id].queued_bytes, counted, paused_ps};
    return packets;
}

bool Links::marks(const PortLimits& limits, std::uint64_t waiting_bytes) {
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
void Links::trim(std::uint32_t id, std::uint32_t packet) {
    Link& link = links_[id];
    if ((random() & 1) != 0 && !link.data.empty()) {
        const std::uint32_t last = link.data.last;
        Packet& waiting = packets_[last];
        if (!intervals_.empty()) [[unlikely]] {
            queue_changes(link, queue_.now().ps);
        }
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
bool Links::admit(std::uint32_t id, std::uint32_t packet, std::uint32_t ingress) {
    if (ingress == kNone || !flow_control_->covers(ingress)) {
        packets_[packet].tag = kNever;
        return true;
    }
    const std::uint32_t bytes = packets_[packet].bytes();
    const std::uint32_t node = flow_control_->switch_of(ingress);
    if (flow_control_->would_stop(ingress, bytes)) {
        // What has left other queues in the meantime may make room.
        for (const std::uint32_t out : flow_control_->links_out_of(node)) {
            advance(out, queue_.now().ps);
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
            Callback::to<&Links::on_pause>(*this, (std::uint64_t{ingress} << 1) | 1));
        for (const std::uint32_t out : flow_control_->links_out_of(node)) {
            if (!links_[out].data.empty()) {
                arm(out);
            }
        }
    }
    return true;
}

std::uint32_t Links::take_data(Link& link, std::uint64_t at_ps) {
    if (!intervals_.empty()) [[unlikely]] {
        queue_changes(link, at_ps);
    }
    const std::uint32_t id = packets_.take_first(link.data);
    const Packet& packet = packets_[id];
    link.queued_bytes -= packet.bytes();
    if (flow_control_ && packet.tag != kNever) {
        flow_control_->release(static_cast<std::uint32_t>(packet.tag), packet.bytes());
        for (const std::uint32_t ingress : flow_control_->resumed()) {
            queue_.schedule_after(
                {classes_[links_[ingress].link_class].latency_ps},
                Callback::to<&Links::on_pause>(*this, std::uint64_t{ingress} << 1));
        }
        flow_control_->resumed().clear();
    }
    return id;
}

// A pause frame comes to the sender of a link: bit 0 says stop or go.
void Links::on_pause(std::uint64_t link_and_stop) {
    const auto id = static_cast<std::uint32_t>(link_and_stop >> 1);
    Link& link = links_[id];
    advance(id, queue_.now().ps);
    link.paused = (link_and_stop & 1) != 0;
    LinkCounters& counted = counters(id);
    counted.paused_ps = counted.paused_until(queue_.now().ps);
    counted.paused_since_ps = link.paused ? queue_.now().ps : kNever;
    if (!link.paused) {
        link.busy_until_ps = std::max(link.busy_until_ps, queue_.now().ps);
        advance(id, queue_.now().ps);
        arm(id);
    }
}

void Links::drop(std::uint32_t link, std::uint32_t packet) {
    ++counters(link).drops;
    repair_.lose(packet);
}

void Links::count_repeat(std::uint32_t link) {
    ++counters(link).repeats;
}

void Links::catch_up(std::uint32_t failing) {
    for (std::uint32_t link = 0; link < links_.size(); ++link) {
        if (link == failing || links_[link].ring != kNone || links_[link].pacer != kNone) {
            advance(link, queue_.now().ps);
        }
    }
}

void Links::lose_all(std::uint32_t id) {
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
        lost.push_back(take_data(link, queue_.now().ps));
    }
    link.busy_until_ps = queue_.now().ps;
    for (const std::uint32_t packet : lost) {
        drop(id, packet);
    }
}

LinkCounters& Links::counters(std::uint32_t link) {
    if (counters_.empty()) {
        counters_.resize(links_.size());
    }
    return counters_[link];
}

std::uint64_t Links::random() {
    const std::uint64_t value = mix(random_state_);
    random_state_ += kMixStep;
    return value;
}

std::vector<LinkRecord> Links::records() const {
    std::vector<LinkRecord> records;
    for (std::uint32_t id = 0; id < links_.size(); ++id) {
        const Link& link = links_[id];
        const LinkCounters counted = counters_.empty() ? LinkCounters{} : counters_[id];
        if (link.wire_bytes == 0 && counted.drops == 0) {
            continue;
        }
        const LinkEnds ends = topology_.link_ends(id);
        LinkRecord& record = records.emplace_back();
        record.from = topology_.node_name(ends.from);
        record.to = topology_.node_name(ends.to);
        record.bytes = {link.wire_bytes};
        record.busy = {link.busy_ps};
        record.dimension = topology_.dimension_of_link(id);
        record.payload = {link.payload_bytes};
        record.peak_queue = {link.peak_bytes};
        record.paused = {counted.paused_until(queue_.now().ps)};
        record.pauses = counted.pauses;
        record.marks = counted.marks;
        record.trims = counted.trims;
        record.drops = counted.drops;
        record.repeats = counted.repeats;
    }
    return records;
}

std::uint64_t Links::wire_bytes(std::uint32_t id) {
    const std::uint64_t now = queue_.now().ps;
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

std::uint64_t Links::waiting_bytes(std::uint32_t id) {
    advance(id, queue_.now().ps);
    return links_[id].queued_bytes + links_[id].control_bytes;
}

}  // namespace astra::packet
