// The streams of one rank, and its ops on their way to them: an op is ready as soon as its parents
// have finished, and is taken when a stream of its kind is free, lowest number first, or lowest
// ExecutionGraph::order. An op that may not begin yet is held: it is not looked at again before
// release_held().
//
// Streams: CPU ops; GPU compute; communication, shared by collectives, sends and memory accesses.
// Receives and ops without work take no stream, nor do gradient transfers that wait elsewhere, nor
// ops of streams that the trace names: edges put these one after the other.
// Cost: O(log ready) an op and O(1) an edge; an op is looked at when a parent finishes and when it
// is taken, never in between. Memory: 4 bytes an op beside the shared graph.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workload/graph/execution_graph.h"

namespace astra {

enum class Stream : std::uint8_t { Cpu, Compute, Communication, None };
inline constexpr std::size_t kStreams = 4;

struct StreamRules {
    std::uint32_t cpu = 1;  // streams of each kind
    std::uint32_t compute = 1;
    std::uint32_t communication = 1;
    bool transfers_take_one = true;  // a gradient transfer occupies a communication stream
    std::uint32_t iterations = ~0U;  // ops of later ones never become ready
};

class RankStreams {
  public:
    // The graph outlives it. Nothing is ready before begin().
    RankStreams(const ExecutionGraph& graph, const StreamRules& rules);

    // The ops without parents become ready: `first`, ascending.
    void begin(const std::vector<std::uint32_t>& first);

    // The op that goes first of all that are ready, have a free stream and may begin, with the
    // stream; kNoOp if there is none. `may_begin` is asked of ops of the communication stream.
    template <typename MayBegin>
    std::uint32_t take(const MayBegin& may_begin) {
        constexpr auto communication = static_cast<std::size_t>(Stream::Communication);
        while (true) {
            const std::size_t stream = first_stream();
            if (stream == kStreams) {
                return kNoOp;
            }
            if (stream != communication || may_begin(ready_[communication].front())) {
                return take_from(stream);
            }
            held_.push_back(pop(communication));
        }
    }
    // The first of one stream that is ready, if the stream is free, whether it may begin or not.
    std::uint32_t take(Stream stream);

    // The op was taken. Gives its stream back; children whose last parent it was become ready.
    void finish(std::uint32_t op);

    // Ops that were held are asked about again.
    void release_held();
    bool holds() const { return !held_.empty(); }

    bool is_running(std::uint32_t op) const { return parents_left_[op] == kRunning; }
    bool is_done(std::uint32_t op) const { return parents_left_[op] == kDone; }
    bool has_begun(std::uint32_t op) const { return parents_left_[op] >= kRunning; }
    std::uint32_t ops_left() const { return ops_left_; }

  private:
    // Instead of a number of parents.
    static constexpr std::uint32_t kRunning = 0xfffffffeU;
    static constexpr std::uint32_t kDone = 0xffffffffU;

    // Orders two ready ops.
    struct GoesLater {
        const ExecutionGraph& graph;
        bool operator()(std::uint32_t a, std::uint32_t b) const {
            return graph.order.empty() || graph.order[a] == graph.order[b]
                       ? a > b
                       : graph.order[a] > graph.order[b];
        }
    };

    Stream stream_of(std::uint32_t op) const;
    void make_ready(std::uint32_t op);
    void push(std::size_t stream, std::uint32_t op);
    std::uint32_t pop(std::size_t stream);
    // Whose first op goes first of all that are free; kStreams if there is none.
    std::size_t first_stream() const;
    std::uint32_t take_from(std::size_t stream);

    const ExecutionGraph* graph_;
    std::vector<std::uint32_t> parents_left_;                 // or kRunning, kDone
    std::array<std::vector<std::uint32_t>, kStreams> ready_;  // heaps, GoesLater
    std::vector<std::uint32_t> held_;                         // of the communication stream
    std::array<std::uint32_t, kStreams> free_;
    std::uint32_t ops_left_;
    std::uint32_t iterations_;
    bool transfers_take_one_;
};

}  // namespace astra
