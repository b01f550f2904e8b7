// Which chunks of a rank may use a dimension at a time.
//
// Each rank has some queues for each dimension; in a queue a limited number of chunks run at once,
// the others wait, in an order that is configured (chunk_order.h).
//
// A limit alone deadlocks: with one queue for the phases up and down of an all_reduce over three
// dimensions, rank A may fill its queue with a chunk that waits for rank B, while B fills its queue
// with one that waits for A. Here a chunk that waits behind a *younger* one whose peers have
// not all come passes it after a short while ("patience"), beyond the limit. A collective to which
// some member has not come is younger than all others: who comes to it last may have to finish
// another first. The oldest unfinished chunk to whose collective everyone has come is then never
// held up by the limit, so it finishes, and so by induction does every other.
// Among ranks in step it only happens where two chunks come to a dimension at the same instant, and
// not in the same order at every rank.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/types.h"
#include "system/engine/chunk_order.h"
#include "system/engine/collective_instance.h"

namespace astra {

class ChunkStarter {
  public:
    ChunkStarter() = default;
    ChunkStarter(const ChunkStarter&) = delete;
    ChunkStarter& operator=(const ChunkStarter&) = delete;
    virtual ~ChunkStarter() = default;
    // Starts the chunk's phase at the rank; may call back into the queues.
    virtual void start_chunk(const ChunkAt& chunk) = 0;
    // Whether every peer has come to the chunk's present phase.
    virtual bool peers_have_come(const ChunkAt& chunk) const = 0;
};

class DimensionQueues {
  public:
    struct Limits {
        std::uint32_t dimensions = 1;
        std::uint32_t queues = 1;         // a dimension
        std::uint32_t active_chunks = 1;  // a dimension: shared out among its queues, rounded up
        ChunkOrders order;
        Duration patience;
        bool pass_younger = true;  // false: the limit is never exceeded, and runs may deadlock
    };
    DimensionQueues(EventQueue& queue,
                    ChunkStarter& starter,
                    std::uint32_t ranks,
                    const Limits& limits);

    std::uint32_t index_of(std::uint32_t rank, std::uint32_t dimension, std::uint32_t queue) const {
        return (rank * limits_.dimensions + dimension) * limits_.queues + queue;
    }
    void add(std::uint32_t queue, const ChunkAt& chunk);
    // Starts what may start.
    void top_up(std::uint32_t queue);
    // The last member has come to a collective of which chunks wait in the queue.
    void everyone_has_come(std::uint32_t queue) { watch(queue); }
    // The chunk has finished its phase here.
    void leave(std::uint32_t queue, const ChunkAt& chunk);
    std::uint64_t passed() const { return passed_; }

  private:
    struct Holder {
        ChunkAt chunk;
        SimTime since;
    };
    struct Waiting {
        ChunkAt chunk;
        std::uint64_t arrival = 0;
    };
    struct Queue {
        std::vector<Waiting> waiting;  // who goes first, first
        std::vector<Holder> holders;
        bool check_pending = false;
    };
    bool goes_before(const Waiting& a, const Waiting& b) const;
    void start(Queue& queue, std::size_t waiting);
    void watch(std::uint32_t queue);
    void check(std::uint64_t queue);
    // The oldest waiting chunk that a younger holder without its peers keeps out; waiting.size() if
    // none.
    std::size_t kept_out(const Queue& queue, Duration held_for) const;

    EventQueue& events_;
    ChunkStarter& starter_;
    Limits limits_;
    std::uint32_t limit_ = 1;  // chunks that run at once in a queue
    std::uint64_t passed_ = 0;
    std::uint64_t arrivals_ = 0;
    std::vector<Queue> queues_;
};

}  // namespace astra
