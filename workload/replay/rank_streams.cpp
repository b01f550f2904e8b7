#include "workload/replay/rank_streams.h"

#include <algorithm>

#include "astra/core/check.h"

namespace astra {

RankStreams::RankStreams(const ExecutionGraph& graph, const StreamRules& rules)
    : graph_(&graph),
      parents_left_(graph.parent_count),
      free_{rules.cpu, rules.compute, rules.communication, 1},
      ops_left_(graph.size()),
      iterations_(rules.iterations),
      transfers_take_one_(rules.transfers_take_one) {}

Stream RankStreams::stream_of(std::uint32_t op) const {
    const ExecutionGraph& graph = *graph_;
    if (graph.in_named_stream(op)) {
        return Stream::None;  // its edges order it
    }
    switch (graph.kind[op]) {
        case OpKind::Compute:
            return graph.on_cpu[op] != 0 ? Stream::Cpu : Stream::Compute;
        case OpKind::MemoryLoad:
        case OpKind::MemoryStore:
            return graph.on_cpu[op] != 0 ? Stream::Cpu : Stream::Communication;
        case OpKind::Send:
            return Stream::Communication;
        case OpKind::Collective:
            return !transfers_take_one_ && graph.is_transfer(OpId{op}) ? Stream::None
                                                                       : Stream::Communication;
        default:
            return Stream::None;
    }
}

void RankStreams::make_ready(std::uint32_t op) {
    if (!graph_->iteration.empty() && graph_->iteration[op] >= iterations_) {
        return;
    }
    push(static_cast<std::size_t>(stream_of(op)), op);
}

void RankStreams::push(std::size_t stream, std::uint32_t op) {
    auto& heap = ready_[stream];
    heap.push_back(op);
    std::push_heap(heap.begin(), heap.end(), GoesLater{*graph_});
}

std::uint32_t RankStreams::pop(std::size_t stream) {
    auto& heap = ready_[stream];
    std::pop_heap(heap.begin(), heap.end(), GoesLater{*graph_});
    const std::uint32_t op = heap.back();
    heap.pop_back();
    return op;
}

void RankStreams::release_held() {
    for (const std::uint32_t op : held_) {
        push(static_cast<std::size_t>(Stream::Communication), op);
    }
    held_.clear();
}

void RankStreams::begin(const std::vector<std::uint32_t>& first) {
    for (const std::uint32_t op : first) {
        make_ready(op);
    }
}

std::uint32_t RankStreams::take_from(std::size_t stream) {
    const std::uint32_t op = pop(stream);
    parents_left_[op] = kRunning;
    if (static_cast<Stream>(stream) != Stream::None) {
        --free_[stream];
    }
    return op;
}

std::size_t RankStreams::first_stream() const {
    const GoesLater later{*graph_};
    std::size_t chosen = kStreams;
    for (std::size_t s = 0; s < kStreams; ++s) {
        if (!ready_[s].empty() && free_[s] > 0 &&
            (chosen == kStreams || later(ready_[chosen].front(), ready_[s].front()))) {
            chosen = s;
        }
    }
    return chosen;
}

std::uint32_t RankStreams::take(Stream stream) {
    const auto s = static_cast<std::size_t>(stream);
    return ready_[s].empty() || free_[s] == 0 ? kNoOp : take_from(s);
}

void RankStreams::finish(std::uint32_t op) {
    ASTRA_CHECK(parents_left_[op] == kRunning, "an op finishes once");
    parents_left_[op] = kDone;
    const Stream stream = stream_of(op);
    if (stream != Stream::None) {
        ++free_[static_cast<std::size_t>(stream)];
    }
    const ExecutionGraph& graph = *graph_;
    for (std::uint32_t i = graph.child_begin[op]; i < graph.child_begin[op + 1]; ++i) {
        const std::uint32_t child = graph.child[i];
        if (--parents_left_[child] == 0) {
            make_ready(child);
        }
    }
    --ops_left_;
}

}  // namespace astra
