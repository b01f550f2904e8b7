#include "system/engine/dimension_queues.h"

#include <algorithm>
#include <tuple>

#include "astra/core/check.h"

namespace astra {

namespace {

bool is_older(const ChunkAt& a, const ChunkAt& b) {
    const auto age = [](const ChunkAt& at) {
        return std::tuple(!at.instance->everyone_has_come(), at.instance->created, at.chunk);
    };
    return age(a) < age(b);
}

}  // namespace

DimensionQueues::DimensionQueues(EventQueue& queue,
                                 ChunkStarter& starter,
                                 std::uint32_t ranks,
                                 const Limits& limits)
    : events_(queue),
      starter_(starter),
      limits_(limits),
      limit_((limits.active_chunks + limits.queues - 1) / limits.queues),
      queues_(std::size_t{ranks} * limits.dimensions * limits.queues) {}

void DimensionQueues::add(std::uint32_t queue, const ChunkAt& chunk) {
    auto& waiting = queues_[queue].waiting;
    const Waiting last{chunk, arrivals_++};
    auto before = waiting.end();
    while (before != waiting.begin() && goes_before(last, *std::prev(before))) {
        --before;
    }
    ++chunk.instance->waiting;
    waiting.insert(before, last);
}

bool DimensionQueues::goes_before(const Waiting& a, const Waiting& b) const {
    for (const ChunkOrder* order : limits_.order) {
        const std::uint64_t key = order->key(a.chunk, a.arrival);
        const std::uint64_t other = order->key(b.chunk, b.arrival);
        if (key != other) {
            return key < other;
        }
    }
    return a.arrival < b.arrival;
}

void DimensionQueues::start(Queue& queue, std::size_t waiting) {
    const ChunkAt chunk = queue.waiting[waiting].chunk;
    queue.waiting.erase(queue.waiting.begin() + static_cast<std::ptrdiff_t>(waiting));
    --chunk.instance->waiting;
    queue.holders.push_back({chunk, events_.now()});
    starter_.start_chunk(chunk);
}

void DimensionQueues::top_up(std::uint32_t queue) {
    Queue& state = queues_[queue];
    while (!state.waiting.empty() && state.holders.size() < limit_) {
        start(state, 0);
    }
    if (!state.waiting.empty()) {
        watch(queue);
    }
}

void DimensionQueues::leave(std::uint32_t queue, const ChunkAt& chunk) {
    auto& holders = queues_[queue].holders;
    const auto holder = std::find_if(holders.begin(), holders.end(), [&](const Holder& h) {
        return h.chunk.instance == chunk.instance && h.chunk.chunk == chunk.chunk;
    });
    ASTRA_CHECK(holder != holders.end(), "a chunk leaves a queue in which it runs");
    holders.erase(holder);
}

std::size_t DimensionQueues::kept_out(const Queue& queue, Duration held_for) const {
    std::size_t oldest = queue.waiting.size();
    for (std::size_t i = 0; i < queue.waiting.size(); ++i) {
        if (oldest == queue.waiting.size() ||
            is_older(queue.waiting[i].chunk, queue.waiting[oldest].chunk)) {
            oldest = i;
        }
    }
    if (oldest == queue.waiting.size()) {
        return oldest;
    }
    const bool kept =
        std::any_of(queue.holders.begin(), queue.holders.end(), [&](const Holder& holder) {
            return is_older(queue.waiting[oldest].chunk, holder.chunk) &&
                   holder.since + held_for <= events_.now() &&
                   !starter_.peers_have_come(holder.chunk);
        });
    return kept ? oldest : queue.waiting.size();
}

void DimensionQueues::watch(std::uint32_t queue) {
    Queue& state = queues_[queue];
    if (!limits_.pass_younger || state.check_pending ||
        kept_out(state, {}) == state.waiting.size()) {
        return;
    }
    state.check_pending = true;
    events_.schedule_after(limits_.patience, Callback::to<&DimensionQueues::check>(*this, queue));
}

void DimensionQueues::check(std::uint64_t queue) {
    Queue& state = queues_[queue];
    state.check_pending = false;
    const std::size_t kept = kept_out(state, limits_.patience);
    if (kept < state.waiting.size()) {
        ++passed_;
        start(state, kept);
    }
    watch(static_cast<std::uint32_t>(queue));
}

}  // namespace astra
