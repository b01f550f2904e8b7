#include "astra/core/event_queue.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "astra/core/check.h"
#include "astra/core/error.h"

namespace astra {

namespace {

// A front that handlers keep inserting into is returned to the buckets when it has grown past this.
constexpr std::size_t kFrontSpill = 512;

// A bucket of up to so many blocks goes to the front by sorting; a larger one is spread first.
constexpr std::uint32_t kSortedBlocks = 8;
constexpr std::size_t kInsertionSorted = 12;
constexpr std::uint32_t kIndexBits = 8;  // of the events of a sorted bucket

}  // namespace

EventQueue::EventQueue() {
    front_.reserve(kFrontSpill);
}

void EventQueue::schedule_at(SimTime when, Callback callback) {
    if (when.ps == kMaxPs) [[unlikely]] {
        throw SimulationError(
            "simulated time would pass 213 days, the most that picoseconds in 64 "
            "bits can hold");
    }
    ASTRA_CHECK(when >= now_, "an event was scheduled in the past");
    const Event event{when.ps, callback};
    ++size_;
    if (when.ps < front_end_ps_) {
        push_front(event);
    } else {
        push_bucket(event);
    }
}

bool EventQueue::step() {
    if (front_head_ == front_.size()) {
        if (size_ == 0) {
            return false;
        }
        refill_front();
    }
    const Event event = front_[front_head_++];
    --size_;
    ++executed_;
    now_ = {event.when_ps};
    event.callback();
    return true;
}

bool EventQueue::run_until(SimTime limit, std::uint64_t max_events) {
    while (size_ > 0 && max_events > 0) {
        if (front_head_ == front_.size()) {
            refill_front();
        }
        if (front_[front_head_].when_ps > limit.ps) {
            break;
        }
        step();
        --max_events;
    }
    return size_ > 0;
}

EventQueue::Block* EventQueue::new_block() {
    if (free_block_ == nullptr) {
        slabs_.push_back(std::make_unique<std::array<Block, kSlabBlocks>>());
        for (Block& block : *slabs_.back()) {
            release(&block);
        }
    }
    Block* block = free_block_;
    free_block_ = block->next;
    block->next = nullptr;
    block->count = 0;
    return block;
}

// The level is the highest digit in which the time differs from the base; the bucket is that digit.
// All events of one time are therefore always in one bucket, in the order in which they came.
void EventQueue::push_bucket(const Event& event) {
    const std::uint64_t differing = (event.when_ps ^ base_ps_) | 1U;
    const std::uint32_t level =
        static_cast<std::uint32_t>(std::bit_width(differing) - 1) / kDigitBits;
    const std::uint32_t digit =
        static_cast<std::uint32_t>(event.when_ps >> (level * kDigitBits)) & (kBucketsALevel - 1);
    Bucket& bucket = buckets_[level][digit];
    if (bucket.last == nullptr) {
        bucket.first = bucket.last = new_block();
        bucket.blocks = 1;
        occupied_[level][digit / 64] |= std::uint64_t{1} << (digit % 64);
    } else if (bucket.last->count == kBlockEvents) {
        bucket.last->next = new_block();
        bucket.last = bucket.last->next;
        ++bucket.blocks;
    }
    Block& block = *bucket.last;
    block.events[block.count++] = event;
}

void EventQueue::push_front(const Event& event) {
    if (front_head_ == front_.size()) {
        front_.clear();
        front_head_ = 0;
    }
    if (front_head_ >= kFrontSpill && front_head_ >= front_.size() - front_head_) {
        // Forget what has run, or the front would grow for as long as it never runs empty.
        front_.erase(front_.begin(), front_.begin() + static_cast<std::ptrdiff_t>(front_head_));
        front_head_ = 0;
    }
    if (front_.empty() || front_.back().when_ps <= event.when_ps) {
        front_.push_back(event);
        return;
    }
    // run_until may have moved the base past now; then the buckets must stay filed by it.
    if (front_.size() - front_head_ >= kFrontSpill && now_.ps >= base_ps_) {
        // Hand everything back, so that insertion stays cheap however handlers behave: the base
        // moves up to now, which changes digits only below the ones that the filled buckets are
        // filed by.
        scratch_.assign(front_.begin() + static_cast<std::ptrdiff_t>(front_head_), front_.end());
        front_.clear();
        front_head_ = 0;
        base_ps_ = now_.ps;
        front_end_ps_ = now_.ps;
        for (const Event& waiting : scratch_) {
            push_bucket(waiting);
        }
        push_bucket(event);
        return;
    }
    const auto position = std::upper_bound(
        front_.begin() + static_cast<std::ptrdiff_t>(front_head_),
        front_.end(),
        event.when_ps,
        [](std::uint64_t when_ps, const Event& other) { return when_ps < other.when_ps; });
    front_.insert(position, event);
}

void EventQueue::refill_front() {
    front_.clear();
    front_head_ = 0;
    while (front_.empty()) {
        std::uint32_t level = 0;
        std::uint32_t word = 0;
        while (occupied_[level][word] == 0) {
            if (++word == occupied_[level].size()) {
                word = 0;
                ++level;
                ASTRA_CHECK(level < kLevels, "events are counted that no bucket holds");
            }
        }
        take_bucket(
            level,
            word * 64 + static_cast<std::uint32_t>(std::countr_zero(occupied_[level][word])));
    }
}

// Moves the earliest bucket to the front if sorting it is cheap, and spreads it over the lower
// levels otherwise.
void EventQueue::take_bucket(std::uint32_t level, std::uint32_t digit) {
    const Bucket bucket = buckets_[level][digit];
    buckets_[level][digit] = {};
    occupied_[level][digit / 64] &= ~(std::uint64_t{1} << (digit % 64));

    // The bucket's range: the base's digits above this level, this digit, anything below.
    const std::uint32_t shift = level * kDigitBits;
    const std::uint32_t above = shift + kDigitBits;
    const std::uint64_t high = above >= 64 ? 0 : (base_ps_ >> above) << above;
    const std::uint64_t start_ps = high | (static_cast<std::uint64_t>(digit) << shift);
    const std::uint64_t length_ps = std::uint64_t{1} << shift;
    const bool sortable =
        level <= 1 || (bucket.blocks <= kSortedBlocks && above <= 64 - kIndexBits);
    base_ps_ = start_ps;
    if (!sortable) {
        front_end_ps_ = start_ps;
        spread(bucket.first);
        return;
    }
    front_end_ps_ = start_ps > kMaxPs - length_ps ? kMaxPs : start_ps + length_ps;
    if (level == 1 && bucket.blocks > 1) {
        gather_by_last_digit(bucket);
        return;
    }
    gather(bucket.first);
    if (level > 0) {
        sort_by_time(start_ps);
    }
}

void EventQueue::gather(Block* first) {
    while (first != nullptr) {
        Block* block = first;
        first = block->next;
        __builtin_prefetch(first);
        front_.insert(front_.end(), block->events.begin(), block->events.begin() + block->count);
        release(block);
    }
}

void EventQueue::spread(Block* first) {
    while (first != nullptr) {
        Block* block = first;
        first = block->next;
        __builtin_prefetch(first);
        for (std::uint32_t i = 0; i < block->count; ++i) {
            push_bucket(block->events[i]);
        }
        release(block);
    }
}

// Moves a bucket whose times differ in their last digit only to the front, by a counting sort.
void EventQueue::gather_by_last_digit(const Bucket& bucket) {
    std::array<std::uint32_t, kBucketsALevel> offset{};
    for (const Block* block = bucket.first; block != nullptr; block = block->next) {
        for (std::uint32_t i = 0; i < block->count; ++i) {
            ++offset[block->events[i].when_ps % kBucketsALevel];
        }
    }
    std::uint32_t sum = 0;
    for (std::uint32_t& entry : offset) {
        const std::uint32_t count = entry;
        entry = sum;
        sum += count;
    }
    front_.resize(sum);
    for (Block* block = bucket.first; block != nullptr;) {
        for (std::uint32_t i = 0; i < block->count; ++i) {
            const Event& event = block->events[i];
            front_[offset[event.when_ps % kBucketsALevel]++] = event;
        }
        Block* next = block->next;
        release(block);
        block = next;
    }
}

// Sorts the few events of the front by (time, order of arrival).
void EventQueue::sort_by_time(std::uint64_t start_ps) {
    if (front_.size() <= kInsertionSorted) {
        for (std::size_t i = 1; i < front_.size(); ++i) {
            const Event event = front_[i];
            std::size_t j = i;
            while (j > 0 && front_[j - 1].when_ps > event.when_ps) {
                front_[j] = front_[j - 1];
                --j;
            }
            front_[j] = event;
        }
        return;
    }
    keys_.clear();
    bool sorted = true;
    for (std::size_t i = 0; i < front_.size(); ++i) {
        keys_.push_back(((front_[i].when_ps - start_ps) << kIndexBits) | i);
        sorted = sorted && (i == 0 || front_[i - 1].when_ps <= front_[i].when_ps);
    }
    if (sorted) {
        return;
    }
    std::sort(keys_.begin(), keys_.end());
    scratch_.clear();
    for (const std::uint64_t key : keys_) {
        scratch_.push_back(front_[key & ((1U << kIndexBits) - 1)]);
    }
    front_.swap(scratch_);
}

}  // namespace astra
