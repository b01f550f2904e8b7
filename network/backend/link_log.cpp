#include "network/backend/link_log.h"

namespace astra {

std::vector<LinkSampleRecord> LinkLog::records() const {
    std::vector<LinkSampleRecord> records;
    records.reserve(intervals_.size());
    for (const LinkInterval& interval : intervals_) {
        const LinkEnds ends = topology_.link_ends(index(interval.link));
        LinkSampleRecord& record = records.emplace_back();
        record.end = interval.end;
        record.interval = interval.end - interval.begin;
        record.from = topology_.node_name(ends.from);
        record.to = topology_.node_name(ends.to);
        record.bytes = interval.bytes;
        record.capacity = topology_.link(index(interval.link)).bandwidth;
        record.queued = interval.queued;
        record.mean_queue = interval.packets.mean_queue;
        record.most_queue = interval.packets.most_queue;
        record.paused = interval.packets.paused;
        record.marks = interval.packets.marks;
        record.trims = interval.packets.trims;
        record.drops = interval.packets.drops;
        record.repeats = interval.packets.repeats;
    }
    return records;
}

}  // namespace astra
