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
            const PeerArrival arrival = instance.last;
            close(instance);
            leaving_ = nullptr;
            for (const auto& member : members) {
                wait_ = {member.since, arrival};
                member.done();
            }
        }
        return;
    }
    const Callback done = instance.members[position].done;
    wait_ = instance.wait_of(position);
    leaving_ = last ? nullptr : &instance;
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
                         instance.end,
                         instance.last,
                         instance.exposed,
                         need_.remember(instance)});
    last_finished_ = finished_.size() - 1;
    matching_.close(instance);
}

std::vector<const CollectiveInstance*> CollectiveRelease::open() const {
    std::vector<const CollectiveInstance*> open;
    for (std::uint32_t group = 0; group < matching_.groups(); ++group) {
        const auto more = matching_.open(GroupId{group});
        open.insert(open.end(), more.begin(), more.end());
    }
    std::sort(open.begin(), open.end(), [](const auto* a, const auto* b) {
        return a->created < b->created;
    });
    return open;
}

// Where somebody is missing, everybody waits for it until now.
void CollectiveRelease::add_unfinished(std::vector<UnfinishedWait>& waits) const {
    for (const CollectiveInstance* instance : open()) {
        for (std::uint32_t p = 0; p < instance->members.size(); ++p) {
            const CollectiveInstance::Member& member = instance->members[p];
            if (!member.joined || (member.chunks_left == 0 && member.sending == 0)) {
                continue;
            }
            PeerWait wait = instance->wait_of(p);
            if (!instance->everyone_has_come()) {
                wait.last.at = context_.queue.now();
            }
            waits.push_back({RankId{instance->group().rank(p)}, wait});
        }
    }
}

std::vector<CollectiveRecord> CollectiveRelease::records() const {
    std::vector<CollectiveRecord> records;
    records.reserve(finished_.size());
    for (const Finished& finished : finished_) {
        records.push_back({finished.plan->group->name(),
                           finished.sequence,
                           finished.plan->key.kind,
                           finished.plan->algorithm,
                           finished.bytes,
                           finished.total,
                           finished.plan->members,
                           finished.plan->group->stride(),
                           finished.start,
                           finished.end,
                           finished.last.at,
                           finished.last.rank,
                           finished.exposed,
                           std::max(finished.need, need_.of(*finished.plan, finished.total))});
    }
    for (const CollectiveInstance* instance : open()) {
        records.push_back({instance->group().name(),
                           instance->sequence,
                           instance->request.kind,
                           instance->plan->algorithm,
                           instance->request.bytes,
                           instance->total(),
                           instance->plan->members,
                           instance->group().stride(),
                           instance->start,
                           context_.queue.now(),
                           instance->last.at,
                           instance->last.rank,
                           instance->exposed,
                           {},
                           false,
                           instance->everyone_has_come()});
    }
    return records;
}

}  // namespace astra
