#include "network/backend/link_sampler.h"

namespace astra {

void LinkSampler::plan() {
    queue_.schedule_after(interval_, Callback::to<&LinkSampler::take>(*this, 0));
}

void LinkSampler::take(std::uint64_t) {
    before_.swap(now_);
    backend_.sample(now_);
    before_.resize(now_.size());
    for (std::uint32_t link = 0; link < now_.size(); ++link) {
        const std::uint64_t bytes = now_[link].carried_bytes - before_[link].carried_bytes;
        if (bytes > 0 || now_[link].queued_bytes > 0) {
            rows_.push_back({queue_.now(), link, bytes, now_[link].queued_bytes});
        }
    }
    const bool moves = queue_.size() > waiting_;
    cut_short_ = rows_.size() > kMostRows && moves;
    if (moves && !cut_short_) {
        plan();
    }
}

std::vector<LinkSampleRecord> LinkSampler::records() const {
    std::vector<LinkSampleRecord> records;
    records.reserve(rows_.size());
    for (const Row& row : rows_) {
        const LinkEnds ends = topology_.link_ends(row.link);
        LinkSampleRecord& record = records.emplace_back();
        record.end = row.end;
        record.interval = interval_;
        record.from = topology_.node_name(ends.from);
        record.to = topology_.node_name(ends.to);
        record.bytes = {row.bytes};
        record.capacity = topology_.link(row.link).bandwidth;
        record.queued = {row.queued_bytes};
    }
    return records;
}

}  // namespace astra
