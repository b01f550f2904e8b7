#include "system/engine/collective_release.h"

#include <algorithm>

namespace astra {

void CollectiveRelease::leave_after(Duration time,
                                    const CollectiveInstance& instance,
                                    std::uint32_t position) {
    const std::uint64_t argument = (std::uint64_t{instance.number} << 32) | position;
    context_.queue.schedule_after(time,
                                  Callback::to<&CollectiveRelease::leave_now>(*this, argument));
}

void CollectiveRelease::leave_now(std::uint64_t argument) {
    CollectiveInstance& instance = matching_.instance(static_cast<std::uint32_t>(argument >> 32));
    const Recorder::Because because(context_.recorder, instance.last_joined);
    leave(instance, static_cast<std::uint32_t>(argument));
}

void CollectiveRelease::leave(CollectiveInstance& instance, std::uint32_t position) {
    instance.end = context_.queue.now();
    instance.members[position].chunks_left = 0;
    ++instance.left;
    const bool last = instance.left == instance.members.size();
    // A barrier lets nobody go before all are through.
    if (instance.request.kind == CollectiveKind::Barrier) {
        if (last) {
            const auto members = instance.members;
            close(instance);
            for (const auto& member : members) {
                member.done();
            }
        }
        return;
    }
    const Callback done = instance.members[position].done;
    if (last) {
        close(instance);
    }
    done();
}

void CollectiveRelease::close(const CollectiveInstance& instance) {
    finished_.push_back({instance.plan,
                         instance.sequence,
                         instance.request.bytes,
                         instance.total(),
                         instance.start,
                         instance.end});
    if (need_ != nullptr) {
        need_->remember(instance);
    }
    matching_.close(instance);
}

std::vector<CollectiveRecord> CollectiveRelease::records() const {
    std::vector<CollectiveRecord> records;
    records.reserve(finished_.size());
    for (const Finished& finished : finished_) {
        records.push_back(
            {finished.plan->group->name(),
             finished.sequence,
             finished.plan->key.kind,
             finished.plan->algorithm,
             finished.bytes,
             finished.total,
             finished.plan->members,
             finished.start,
             finished.end,
             true,
             need_ == nullptr ? Duration{} : need_->of(*finished.plan, finished.total)});
    }
    std::vector<const CollectiveInstance*> open;
    for (std::uint32_t group = 0; group < matching_.groups(); ++group) {
        const auto more = matching_.open(GroupId{group});
        open.insert(open.end(), more.begin(), more.end());
    }
    std::sort(open.begin(), open.end(), [](const auto* a, const auto* b) {
        return a->created < b->created;
    });
    for (const CollectiveInstance* instance : open) {
        records.push_back({instance->group().name(),
                           instance->sequence,
                           instance->request.kind,
                           instance->plan->algorithm,
                           instance->request.bytes,
                           instance->total(),
                           instance->plan->members,
                           instance->start,
                           context_.queue.now(),
                           false});
    }
    return records;
}

}  // namespace astra
