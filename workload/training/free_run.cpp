#include "workload/training/free_run.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

namespace astra {

namespace {

class FreeRun {
  public:
    FreeRun(const std::vector<FreeRank>& ranks,
            const std::array<std::uint32_t, 3>& streams,
            std::uint32_t iterations)
        : ranks_(ranks), iterations_(iterations) {
        for (const FreeRank& rank : ranks) {
            State& state = states_.emplace_back();
            state.left = rank.graph->parent_count;
            std::copy(streams.begin(), streams.end(), state.free.begin());
            state.times.start.assign(rank.graph->size(), SimTime{kMaxPs});
            state.times.end = state.times.start;
        }
    }

    std::vector<FreeTimes> run() {
        for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
            for (std::uint32_t op = 0; op < ranks_[r].graph->size(); ++op) {
                if (states_[r].left[op] == 0) {
                    make_ready(r, op);
                }
            }
            pump(r);
        }
        while (!events_.empty() || release_one()) {
            const Event event = events_.top();
            events_.pop();
            now_ = event.when;
            finish(event.rank, event.op);
            pump(event.rank);
        }
        std::vector<FreeTimes> result;
        for (State& state : states_) {
            result.push_back(std::move(state.times));
        }
        return result;
    }

  private:
    static constexpr std::size_t kStreams = 3;              // and one without end
    using Keyed = std::pair<std::uint32_t, std::uint32_t>;  // what goes first, op
    struct State {
        std::vector<std::uint32_t> left;
        std::array<std::vector<Keyed>, kStreams + 1> ready;  // heaps, lowest first
        std::array<std::uint32_t, kStreams + 1> free{0, 0, 0, 1};
        FreeTimes times;
    };
    struct Event {
        SimTime when;
        std::uint64_t sequence;
        std::uint32_t rank;
        std::uint32_t op;
        bool operator>(const Event& other) const {
            return std::tie(when, sequence) > std::tie(other.when, other.sequence);
        }
    };
    using Place = std::pair<std::uint32_t, std::uint32_t>;  // rank, op
    struct Channel {
        std::deque<SimTime> arrived;
        std::deque<Place> waiting;
    };

    static bool is_transfer(const ExecutionGraph& graph, std::uint32_t op) {
        return graph.kind[op] == OpKind::Collective &&
               graph.collectives[graph.detail[op]].transfer != kNoTransfer;
    }

    static std::size_t stream_of(const ExecutionGraph& graph, std::uint32_t op) {
        switch (graph.kind[op]) {
            case OpKind::Compute:
                return graph.on_cpu[op] != 0 ? 0 : 1;
            case OpKind::MemoryLoad:
            case OpKind::MemoryStore:
                return graph.on_cpu[op] != 0 ? 0 : 2;
            case OpKind::Send:
                return 2;
            case OpKind::Collective:
                return is_transfer(graph, op) ? kStreams : 2;
            default:
                return kStreams;
        }
    }

    void make_ready(std::uint32_t rank, std::uint32_t op) {
        const ExecutionGraph& graph = *ranks_[rank].graph;
        if (!graph.iteration.empty() && graph.iteration[op] >= iterations_) {
            return;
        }
        auto& heap = states_[rank].ready[stream_of(graph, op)];
        heap.emplace_back(graph.order.empty() ? op : graph.order[op], op);
        std::push_heap(heap.begin(), heap.end(), std::greater<>());
    }

    void pump(std::uint32_t rank) {
        State& state = states_[rank];
        for (std::size_t s = 0; s <= kStreams; ++s) {
            auto& heap = state.ready[s];
            while (!heap.empty() && (s == kStreams || state.free[s] > 0)) {
                std::pop_heap(heap.begin(), heap.end(), std::greater<>());
                const std::uint32_t op = heap.back().second;
                heap.pop_back();
                state.free[s] -= s == kStreams ? 0 : 1;
                start(rank, op);
            }
        }
    }

    void start(std::uint32_t rank, std::uint32_t op) {
        const ExecutionGraph& graph = *ranks_[rank].graph;
        states_[rank].times.start[op] = now_;
        if (graph.kind[op] == OpKind::Recv) {
            Channel& channel = channel_of(rank, op);
            if (channel.arrived.empty()) {
                channel.waiting.emplace_back(rank, op);
                return;
            }
            const SimTime arrival = std::max(now_, channel.arrived.front());
            channel.arrived.pop_front();
            plan(arrival, rank, op);
            return;
        }
        plan(now_ + (is_transfer(graph, op) ? Duration{} : ranks_[rank].durations[op]), rank, op);
    }

    void plan(SimTime when, std::uint32_t rank, std::uint32_t op) {
        events_.push({when, sequence_++, rank, op});
    }

    // Of a send or receive.
    Channel& channel_of(std::uint32_t rank, std::uint32_t op) {
        const ExecutionGraph& graph = *ranks_[rank].graph;
        const PointDetail& point = graph.points[graph.detail[op]];
        const std::uint32_t peer = ranks_[rank].peer_ranks[point.peer_role];
        const bool sends = graph.kind[op] == OpKind::Send;
        return channels_[{sends ? rank : peer, sends ? peer : rank, point.tag}];
    }

    void finish(std::uint32_t rank, std::uint32_t op) {
        const ExecutionGraph& graph = *ranks_[rank].graph;
        State& state = states_[rank];
        state.times.end[op] = now_;
        const std::size_t stream = stream_of(graph, op);
        state.free[stream] += stream == kStreams ? 0 : 1;
        if (graph.kind[op] == OpKind::Send) {
            Channel& channel = channel_of(rank, op);
            if (channel.waiting.empty()) {
                channel.arrived.push_back(now_);
            } else {
                plan(now_, channel.waiting.front().first, channel.waiting.front().second);
                channel.waiting.pop_front();
            }
        }
        for (std::uint32_t i = graph.child_begin[op]; i < graph.child_begin[op + 1]; ++i) {
            if (--state.left[graph.child[i]] == 0) {
                make_ready(rank, graph.child[i]);
            }
        }
    }

    // The first receive that waits for what does not come.
    bool release_one() {
        for (auto& [key, channel] : channels_) {
            if (!channel.waiting.empty()) {
                plan(now_, channel.waiting.front().first, channel.waiting.front().second);
                channel.waiting.pop_front();
                return true;
            }
        }
        return false;
    }

    const std::vector<FreeRank>& ranks_;
    std::uint32_t iterations_;
    std::vector<State> states_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t sequence_ = 0;
    SimTime now_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Channel> channels_;
};

}  // namespace

std::vector<FreeTimes> run_free(const std::vector<FreeRank>& ranks,
                                const std::array<std::uint32_t, 3>& streams,
                                std::uint32_t iterations) {
    return FreeRun(ranks, streams, iterations).run();
}

}  // namespace astra
