#include "workload/training/free_run.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "astra/core/event_queue.h"

namespace astra {

namespace {

// The last time that the queue takes.
constexpr SimTime kLast{kMaxPs - 1};

constexpr std::uint64_t pack(std::uint32_t rank, std::uint32_t op) {
    return (std::uint64_t{rank} << 32U) | op;
}

class FreeRun {
  public:
    FreeRun(const std::vector<FreeRank>& ranks, const StreamRules& rules) : ranks_(ranks) {
        for (const FreeRank& rank : ranks) {
            streams_.emplace_back(*rank.graph, rules);
            FreeTimes& times = times_.emplace_back();
            times.start.assign(rank.graph->size(), SimTime{kMaxPs});
            times.end = times.start;
        }
    }

    std::vector<FreeTimes> run() {
        for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
            std::vector<std::uint32_t> first;
            for (std::uint32_t op = 0; op < ranks_[rank].graph->size(); ++op) {
                if (ranks_[rank].graph->parent_count[op] == 0) {
                    first.push_back(op);
                }
            }
            streams_[rank].begin(first);
            pump(rank);
        }
        while (queue_.step() || release_one()) {
        }
        return std::move(times_);
    }

  private:
    struct Channel {
        std::uint32_t arrived = 0;          // messages that no receive has taken
        std::deque<std::uint64_t> waiting;  // receives, packed
    };

    void pump(std::uint32_t rank) {
        for (const Stream stream :
             {Stream::Cpu, Stream::Compute, Stream::Communication, Stream::None}) {
            RankStreams& streams = streams_[rank];
            for (std::uint32_t op = streams.take(stream); op != kNoOp; op = streams.take(stream)) {
                start(rank, op);
            }
        }
    }

    void start(std::uint32_t rank, std::uint32_t op) {
        const ExecutionGraph& graph = *ranks_[rank].graph;
        times_[rank].start[op] = queue_.now();
        if (graph.kind[op] != OpKind::Recv) {
            const bool is_free = graph.is_transfer(OpId{op});
            finish_after(is_free ? Duration{} : ranks_[rank].durations[op], pack(rank, op));
            return;
        }
        Channel& channel = channel_of(rank, op);
        if (channel.arrived == 0) {
            channel.waiting.push_back(pack(rank, op));
            return;
        }
        --channel.arrived;
        finish_after({}, pack(rank, op));
    }

    void finish_after(Duration duration, std::uint64_t op) {
        queue_.schedule_at(std::min(queue_.now() + duration, kLast),
                           Callback::to<&FreeRun::finish>(*this, op));
    }

    // The channel of a send or receive.
    Channel& channel_of(std::uint32_t rank, std::uint32_t op) {
        const ExecutionGraph& graph = *ranks_[rank].graph;
        const PointDetail& point = graph.points[graph.detail[op]];
        const std::uint32_t peer = ranks_[rank].peer_ranks[point.peer_role];
        const bool sends = graph.kind[op] == OpKind::Send;
        return channels_[{sends ? rank : peer, sends ? peer : rank, point.tag}];
    }

    void finish(std::uint64_t packed) {
        const auto rank = static_cast<std::uint32_t>(packed >> 32U);
        const auto op = static_cast<std::uint32_t>(packed);
        times_[rank].end[op] = queue_.now();
        if (ranks_[rank].graph->kind[op] == OpKind::Send) {
            Channel& channel = channel_of(rank, op);
            if (!release(channel)) {
                ++channel.arrived;
            }
        }
        streams_[rank].finish(op);
        pump(rank);
    }

    // The receive that has waited longest gets its message, if one waits.
    bool release(Channel& channel) {
        if (channel.waiting.empty()) {
            return false;
        }
        finish_after({}, channel.waiting.front());
        channel.waiting.pop_front();
        return true;
    }

    // The first receive that waits for what does not come.
    bool release_one() {
        return std::any_of(channels_.begin(), channels_.end(), [this](auto& entry) {
            return release(entry.second);
        });
    }

    const std::vector<FreeRank>& ranks_;
    EventQueue queue_;
    std::vector<RankStreams> streams_;
    std::vector<FreeTimes> times_;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Channel> channels_;
};

}  // namespace

std::vector<FreeTimes> run_free(const std::vector<FreeRank>& ranks, const StreamRules& rules) {
    return FreeRun(ranks, rules).run();
}

}  // namespace astra
