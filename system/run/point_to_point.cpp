#include "system/run/point_to_point.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "system/run/rendezvous.h"

namespace astra {

std::uint32_t PointToPoint::new_transfer() {
    if (free_ == kNone) {
        transfers_.emplace_back();
        return static_cast<std::uint32_t>(transfers_.size() - 1);
    }
    const std::uint32_t id = free_;
    free_ = transfers_[id].next_free;
    transfers_[id] = {};
    return id;
}

// The transfer that this side belongs to: the one that the other side has come to, or a new one.
std::uint32_t PointToPoint::match(const PointRequest& request) {
    const auto [entry, created] = unmatched_.try_emplace(key_of(request), kNone);
    if (created) {
        entry->second = new_transfer();
        return entry->second;
    }
    const std::uint32_t id = entry->second;
    unmatched_.erase(entry);
    return id;
}

void PointToPoint::check_sizes(const Transfer& transfer) const {
    if (!transfer.has_send || !transfer.has_receive ||
        transfer.request.bytes == transfer.expected) {
        return;
    }
    throw InputError(
        fmt::format("at {} ps: sizes differ: rank {} (node {}) sends {} B to rank {} under tag {}, "
                    "which expects {} B "
                    "(node {})",
                    queue_.now().ps,
                    transfer.request.source,
                    transfer.request.node_id,
                    transfer.request.bytes.count,
                    transfer.request.destination,
                    transfer.request.tag,
                    transfer.expected.count,
                    transfer.receiver_node));
}

void PointToPoint::send(const PointRequest& request, Callback done) {
    const std::uint32_t id = match(request);
    Transfer& transfer = transfers_[id];
    transfer.request = request;
    transfer.sent = done;
    transfer.has_send = true;
    transfer.offered = queue_.now();
    check_sizes(transfer);
    if (recorder_ != nullptr && transfer.has_receive && transfer.posted < queue_.now()) {
        Span span;
        span.kind = SpanKind::Waiting;
        span.rank = RankId{request.destination};
        span.peer = RankId{request.source};
        span.begin = transfer.posted;
        span.end = queue_.now();
        recorder_->add(span);
    }
    if (!rendezvous_ || transfer.asked) {
        inject(id);
    }
}

void PointToPoint::receive(const PointRequest& request, Callback done) {
    const std::uint32_t id = match(request);
    Transfer& transfer = transfers_[id];
    if (!transfer.has_send) {
        transfer.request = request;
    }
    transfer.receiver_node = request.node_id;
    transfer.expected = request.bytes;
    transfer.received = done;
    transfer.has_receive = true;
    transfer.posted = queue_.now();
    check_sizes(transfer);
    if (transfer.arrived) {
        // An event, not a call: whoever posted this does not expect to be called back already.
        queue_.schedule_after({}, Callback::to<&PointToPoint::on_received>(*this, id));
    } else if (rendezvous_) {
        ask(id);
    }
}

void PointToPoint::inject(std::uint32_t id) {
    const PointRequest& request = transfers_[id].request;
    const Callback arrival = Callback::to<&PointToPoint::on_arrival>(*this, id);
    if (request.source == request.destination) {
        deliver_to_itself(id, arrival);
        return;
    }
    ++messages_;
    bytes_ = saturating_add(bytes_, request.bytes.count);
    const Callback departure = Callback::to<&PointToPoint::on_departure>(*this, id);
    const SimTime left = network_.send(
        {RankId{request.source}, RankId{request.destination}, request.bytes, kPointToPoint},
        queue_.now(),
        arrival,
        ends_on_arrival_ ? Callback{} : departure);
    if (!ends_on_arrival_ && left.ps != kMaxPs) {
        transfers_[id].departs = true;
        queue_.schedule_at(left, departure);
    }
}

// The data was there before the receiver came.
void PointToPoint::on_received(std::uint64_t id) {
    const Transfer& transfer = transfers_[id];
    const Callback receiver = transfer.received;
    wait_ = wait_of_receiver(transfer);
    settle(static_cast<std::uint32_t>(id));
    receiver();
}

void PointToPoint::on_departure(std::uint64_t id) {
    Transfer& transfer = transfers_[id];
    transfer.departs = false;
    const Callback sent = std::exchange(transfer.sent, {});
    const PeerWait wait = wait_of_sender(transfer);
    if (transfer.over) {
        settle(static_cast<std::uint32_t>(id));
    }
    if (sent) {
        wait_ = wait;
        sent();
    }
}

void PointToPoint::ask(std::uint32_t id) {
    const PointRequest& request = transfers_[id].request;
    const Callback asked = Callback::to<&PointToPoint::on_asked>(*this, id);
    if (request.source == request.destination) {
        deliver_to_itself(id, asked);
        return;
    }
    ++messages_;
    bytes_ = saturating_add(bytes_, kRequestBytes.count);
    network_.send(
        {RankId{request.destination}, RankId{request.source}, kRequestBytes, kPointToPoint},
        queue_.now(),
        asked);
}

void PointToPoint::deliver_to_itself(std::uint32_t id, Callback delivered) {
    transfers_[id].cause = recorder_ == nullptr ? kNoCause : recorder_->current();
    queue_.schedule_after({}, delivered);
}

Cause PointToPoint::cause_of(const Transfer& transfer) const {
    if (recorder_ == nullptr) {
        return kNoCause;
    }
    return recorder_->current() == kNoCause ? transfer.cause : recorder_->current();
}

void PointToPoint::on_asked(std::uint64_t id) {
    Transfer& transfer = transfers_[id];
    const Recorder::Because because(recorder_, cause_of(transfer));
    transfer.asked = true;
    if (transfer.has_send) {
        inject(static_cast<std::uint32_t>(id));
    }
}

void PointToPoint::on_arrival(std::uint64_t id) {
    Transfer& transfer = transfers_[id];
    const Recorder::Because because(recorder_, cause_of(transfer));
    transfer.arrived = true;
    const Callback sent = std::exchange(transfer.sent, {});
    const bool received = transfer.has_receive;
    const Callback receiver = transfer.received;
    const PeerWait wait_of_sent = wait_of_sender(transfer);
    const PeerWait wait_of_received = wait_of_receiver(transfer);
    if (received) {
        settle(static_cast<std::uint32_t>(id));
    }
    if (sent) {
        wait_ = wait_of_sent;
        sent();
    }
    if (received) {
        wait_ = wait_of_received;
        receiver();
    }
}

PeerWait PointToPoint::wait_of_sender(const Transfer& transfer) const {
    const SimTime asked = transfer.has_receive ? transfer.posted : queue_.now();
    return {transfer.offered,
            {rendezvous_ ? asked : transfer.offered, RankId{transfer.request.destination}}};
}

PeerWait PointToPoint::wait_of_receiver(const Transfer& transfer) const {
    return {transfer.posted,
            {transfer.has_send ? transfer.offered : queue_.now(), RankId{transfer.request.source}}};
}

void PointToPoint::add_unfinished(std::vector<UnfinishedWait>& waits) const {
    for (const Transfer& transfer : transfers_) {
        if (transfer.sent) {
            waits.push_back({RankId{transfer.request.source}, wait_of_sender(transfer)});
        }
        if (transfer.has_receive && !transfer.over) {
            waits.push_back({RankId{transfer.request.destination}, wait_of_receiver(transfer)});
        }
    }
}

void PointToPoint::settle(std::uint32_t id) {
    transfers_[id].over = true;
    if (transfers_[id].departs) {
        return;  // an event still names it
    }
    transfers_[id].next_free = free_;
    free_ = id;
}

std::vector<std::string> PointToPoint::unreceived() const {
    std::vector<const Transfer*> lonely;
    for (const auto& [key, id] : unmatched_) {
        if (transfers_[id].has_send) {
            lonely.push_back(&transfers_[id]);
        }
    }
    std::sort(lonely.begin(), lonely.end(), [](const Transfer* a, const Transfer* b) {
        const auto order = [](const PointRequest& r) {
            return std::tie(r.source, r.destination, r.tag, r.node_id);
        };
        return order(a->request) < order(b->request);
    });
    std::vector<std::string> lines;
    for (const Transfer* transfer : lonely) {
        const PointRequest& request = transfer->request;
        lines.push_back(fmt::format("rank {} -> rank {}, tag {}, {} B (node {})",
                                    request.source,
                                    request.destination,
                                    request.tag,
                                    request.bytes.count,
                                    request.node_id));
    }
    return lines;
}

std::string PointToPoint::near_match(const PointRequest& receive) const {
    const Transfer* nearest = nullptr;
    for (const auto& [key, id] : unmatched_) {
        const Transfer& transfer = transfers_[id];
        if (!transfer.has_send || transfer.request.source != receive.source ||
            transfer.request.destination != receive.destination ||
            transfer.request.tag == receive.tag) {
            continue;
        }
        const auto order = [](const Transfer& t) {
            return std::tie(t.request.tag, t.request.node_id);
        };
        if (nearest == nullptr || order(transfer) < order(*nearest)) {
            nearest = &transfer;
        }
    }
    if (nearest == nullptr) {
        return "";
    }
    return fmt::format("rank {} has sent it {} B under tag {} (node {}), not tag {}",
                       nearest->request.source,
                       nearest->request.bytes.count,
                       nearest->request.tag,
                       nearest->request.node_id,
                       receive.tag);
}

}  // namespace astra
