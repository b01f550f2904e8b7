#include "network/backend/recording_backend.h"

namespace astra {

void RecordingBackend::send(const Message& message, SimTime at, Callback delivered) {
    std::uint32_t id = free_;
    if (id == kNone) {
        id = static_cast<std::uint32_t>(flights_.size());
        flights_.emplace_back();
    } else {
        free_ = flights_[id].next_free;
    }
    flights_[id].delivered = delivered;
    if (keep_) {
        flights_[id].kept = kept_.size();
        Kept& kept = kept_.emplace_back();
        kept.source = index(message.source);
        kept.destination = index(message.destination);
        kept.bytes = message.size;
        kept.start = at;
    }
    inner_.send(message, at, Callback::to<&RecordingBackend::on_delivered>(*this, id));
}

void RecordingBackend::on_delivered(std::uint64_t flight) {
    Flight& done = flights_[flight];
    ++delivered_;
    if (keep_) {
        kept_[done.kept].finish = queue_.now();
    }
    // The callback may send, and so take this place again.
    const Callback delivered = done.delivered;
    done.next_free = free_;
    free_ = static_cast<std::uint32_t>(flight);
    delivered();
}

std::vector<FlowRecord> RecordingBackend::flow_records() const {
    std::vector<FlowRecord> records;
    records.reserve(kept_.size());
    for (std::size_t i = 0; i < kept_.size(); ++i) {
        const Kept& kept = kept_[i];
        if (kept.finish.ps != kNotYet) {
            records.push_back({i + 1,
                               RankId{kept.source},
                               RankId{kept.destination},
                               kept.bytes,
                               0,
                               kept.start,
                               kept.finish,
                               0});
        }
    }
    return records;
}

}  // namespace astra
