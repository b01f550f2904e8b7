// The one event queue of a simulation.
//
// Order: by time; events of equal time run in the order in which they were scheduled.
// Structure: a monotone multi-level bucket queue (a radix heap of base 256) over a sorted front.
//
//   operation        cost
//   schedule_at      O(1); O(front) when the time falls into the sorted front, which is kept small
//   step             amortised O(levels touched), at most 8
//   memory           32 bytes an event in blocks of 16 that are reused, plus the free blocks
//
// Method: Ahuja, Mehlhorn, Orlin, Tarjan, "Faster algorithms for the shortest path problem" (1990);
// the sorted front is the bottom rung of a ladder queue (Tang, Goh, Thng, 2005).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "astra/core/callback.h"
#include "astra/core/types.h"

namespace astra {

class EventQueue {
  public:
    EventQueue();

    SimTime now() const { return now_; }
    std::uint64_t executed() const { return executed_; }
    std::uint64_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    // Requires when >= now(). Throws SimulationError when `when` is beyond what a time can hold.
    void schedule_at(SimTime when, Callback callback);
    void schedule_after(Duration delay, Callback callback) { schedule_at(now_ + delay, callback); }

    // Runs the next event; false when there is none.
    bool step();

    // Runs events up to and including `limit`, at most `max_events` of them; true if events remain.
    // now() never passes `limit`.
    bool run_until(SimTime limit,
                   std::uint64_t max_events = std::numeric_limits<std::uint64_t>::max());
    // Lets time go by in which nothing happens. Requires that no event is due before `time`.
    void pass_to(SimTime time) { now_ = time; }
    void run() {
        while (step()) {
        }
    }

  private:
    struct Event {
        std::uint64_t when_ps = 0;
        Callback callback;
    };
    static_assert(sizeof(Event) == 32);

    static constexpr std::uint32_t kBlockEvents = 16;
    static constexpr std::size_t kSlabBlocks = 256;
    static constexpr std::uint32_t kDigitBits = 8;
    static constexpr std::uint32_t kLevels = 8;
    static constexpr std::uint32_t kBucketsALevel = 256;

    struct Block {
        std::array<Event, kBlockEvents> events;
        Block* next = nullptr;
        std::uint32_t count = 0;
    };
    struct Bucket {
        Block* first = nullptr;
        Block* last = nullptr;
        std::uint32_t blocks = 0;
    };

    void push_bucket(const Event& event);
    void push_front(const Event& event);
    void refill_front();
    void take_bucket(std::uint32_t level, std::uint32_t digit);
    void gather(Block* first);
    void gather_by_last_digit(const Bucket& bucket);
    void spread(Block* first);
    void release(Block* block) {
        block->next = free_block_;
        free_block_ = block;
    }
    void sort_by_time(std::uint64_t start_ps);
    Block* new_block();

    std::vector<Event> front_;  // sorted; the next event is front_[front_head_]
    std::size_t front_head_ = 0;
    std::uint64_t front_end_ps_ = 0;  // events before this time belong to the front
    std::uint64_t base_ps_ = 0;       // the buckets' digits are relative to this time
    std::array<std::array<std::uint64_t, kBucketsALevel / 64>, kLevels>
        occupied_{};  // bit a bucket
    std::array<std::array<Bucket, kBucketsALevel>, kLevels> buckets_;
    std::vector<std::unique_ptr<std::array<Block, kSlabBlocks>>> slabs_;
    Block* free_block_ = nullptr;
    std::vector<Event> scratch_;
    std::vector<std::uint64_t> keys_;
    std::uint64_t size_ = 0;
    std::uint64_t executed_ = 0;
    SimTime now_;
};

}  // namespace astra
