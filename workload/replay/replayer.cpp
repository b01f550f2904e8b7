#include "workload/replay/replayer.h"

#include <algorithm>
#include <utility>

#include "astra/core/check.h"

namespace astra {

namespace {

constexpr std::uint64_t pack(std::uint32_t rank, std::uint32_t op) {
    return (std::uint64_t{rank} << 32) | op;
}

}  // namespace

Replayer::Replayer(EventQueue& queue,
                   CollectiveEngine& collectives,
                   PointToPoint& points,
                   MemoryModel& memory,
                   TransferQueue& transfers,
                   const SystemConfig& config)
    : queue_(queue),
      collectives_(collectives),
      points_(points),
      memory_(memory),
      transfers_(transfers),
      config_(config),
      compute_(config) {}

void Replayer::start() {
    for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
        queue_.schedule_at(jobs_[job].start, Callback::to<&Replayer::start_job>(*this, job));
    }
}

void Replayer::start_job(std::uint64_t job) {
    const std::uint32_t first = first_rank_of_job_[job];
    const auto count = static_cast<std::uint32_t>(jobs_[job].fabric_ranks.size());
    for (std::uint32_t r = first; r < first + count; ++r) {
        Rank& rank = ranks_[r];
        rank.started = true;
        rank.finish = queue_.now();
        if (record_starts_) {
            rank.starts.resize(rank.graph->size());
        }
        if (rank.ops_left == 0) {
            ++finished_ranks_;
        }
        for (std::uint32_t op = 0; op < rank.graph->size(); ++op) {
            if (rank.parents_left[op] == 0) {
                make_ready(rank, op);
            }
        }
    }
    // An event a rank, so that a limit or an interruption is seen between them.
    for (std::uint32_t r = first; r < first + count; ++r) {
        queue_.schedule_after({}, Callback::to<&Replayer::start_rank>(*this, r));
    }
}

void Replayer::start_rank(std::uint64_t rank) {
    pump(static_cast<std::uint32_t>(rank));
}

Replayer::Stream Replayer::stream_of(const ExecutionGraph& graph, std::uint32_t op) const {
    switch (graph.kind[op]) {
        case OpKind::Compute:
            return graph.on_cpu[op] != 0 ? Stream::Cpu : Stream::Compute;
        case OpKind::MemoryLoad:
        case OpKind::MemoryStore:
            return graph.on_cpu[op] != 0 ? Stream::Cpu : Stream::Communication;
        case OpKind::Send:
            return Stream::Communication;
        case OpKind::Collective:
            return transfers_.waits() && is_transfer(graph, op) ? Stream::None
                                                                : Stream::Communication;
        default:
            return Stream::None;
    }
}

Activity Replayer::activity_of(const ExecutionGraph& graph, std::uint32_t op) {
    switch (graph.kind[op]) {
        case OpKind::Compute:
            return graph.on_cpu[op] != 0 ? Activity::Other : Activity::Compute;
        case OpKind::MemoryLoad:
        case OpKind::MemoryStore:
            return Activity::Memory;
        case OpKind::Send:
        case OpKind::Recv:
        case OpKind::Collective:
            return Activity::Communication;
        default:
            return Activity::Other;
    }
}

void Replayer::make_ready(Rank& rank, std::uint32_t op) {
    auto& heap = rank.ready[static_cast<std::size_t>(stream_of(*rank.graph, op))];
    heap.push_back(op);
    std::push_heap(heap.begin(), heap.end(), GoesLater{*rank.graph});
}

// Issues all that can be issued, the lowest op first whatever its stream. Ops that take no time
// finish one by one in the order of their issue, each after everything that it does not hold up has
// been issued.
void Replayer::pump(std::uint32_t rank_number) {
    Rank& rank = ranks_[rank_number];
    instant_.clear();
    for (std::size_t finished = 0;; ++finished) {
        issue_ready(rank_number);
        if (finished == instant_.size()) {
            return;
        }
        finish_op(rank, instant_[finished]);
    }
}

void Replayer::issue_ready(std::uint32_t rank_number) {
    Rank& rank = ranks_[rank_number];
    const GoesLater later{*rank.graph};
    while (true) {
        std::size_t chosen = kStreams;
        for (std::size_t s = 0; s < kStreams; ++s) {
            if (!rank.ready[s].empty() && rank.free_streams[s] > 0 &&
                (chosen == kStreams || later(rank.ready[chosen].front(), rank.ready[s].front()))) {
                chosen = s;
            }
        }
        if (chosen == kStreams) {
            return;
        }
        auto& heap = rank.ready[chosen];
        std::pop_heap(heap.begin(), heap.end(), later);
        const std::uint32_t op = heap.back();
        heap.pop_back();
        rank.parents_left[op] = kRunning;
        if (record_starts_) {
            rank.starts[op] = queue_.now();
        }
        if (static_cast<Stream>(chosen) != Stream::None) {
            --rank.free_streams[chosen];
        }
        const Activity activity = activity_of(*rank.graph, op);
        rank.activity.begin(activity, queue_.now());
        if (rank.iterations != nullptr) {
            rank.iterations->begin(rank.number,
                                   rank.graph->iteration[op],
                                   activity == Activity::Compute,
                                   queue_.now());
        }
        if (issue(rank_number, op)) {
            instant_.push_back(op);
        }
    }
}

bool Replayer::issue_delay(Duration time, Callback done) {
    if (time.ps == 0) {
        return true;
    }
    queue_.schedule_after(time, done);
    return false;
}

bool Replayer::issue(std::uint32_t rank_number, std::uint32_t op) {
    Rank& rank = ranks_[rank_number];
    const ExecutionGraph& graph = *rank.graph;
    const Callback done = Callback::to<&Replayer::on_done>(*this, pack(rank_number, op));
    if (config_.replay_only && graph.kind[op] != OpKind::Invalid) {
        return issue_delay({graph.duration_ps[op]}, done);
    }
    switch (graph.kind[op]) {
        case OpKind::Compute:
            return issue_delay(compute_time(rank, op), done);
        case OpKind::MemoryLoad:
        case OpKind::MemoryStore: {
            const Bytes bytes = graph.memories[graph.detail[op]].bytes;
            queue_.schedule_at(memory_.access(rank.fabric_rank, bytes, queue_.now()), done);
            return false;
        }
        case OpKind::Send:
            points_.send(point_for(rank, op), done);
            return false;
        case OpKind::Recv:
            points_.receive(point_for(rank, op), done);
            return false;
        case OpKind::Collective: {
            const auto& detail = graph.collectives[graph.detail[op]];
            const GroupPlace& place = rank.groups[detail.group_role];
            const CollectiveRequest request = request_for(rank, op);
            if (detail.transfer == kNoTransfer) {
                collectives_.join(place.group, place.position, request, done);
            } else {
                transfers_.request(place.group,
                                   place.position,
                                   {detail.iteration, detail.transfer, detail.bytes},
                                   request,
                                   done);
            }
            return false;
        }
        case OpKind::Invalid:
            ++counts_.skipped;
            return true;
        case OpKind::Metadata:
            return true;
    }
    return true;
}

Duration Replayer::compute_time(const Rank& rank, std::uint32_t op) {
    const ExecutionGraph& graph = *rank.graph;
    Duration time{graph.duration_ps[op]};
    const ComputeDetail& detail = graph.computes[graph.detail[op]];
    const bool by_roofline =
        config_.roofline && graph.on_cpu[op] == 0 && (detail.has_operations || detail.has_tensor);
    if (by_roofline) {
        time = compute_.roofline(detail.operations, {detail.tensor_bytes});
    } else if (time.ps == 0 && !detail.is_instant()) {
        ++counts_.without_duration;
    }
    return compute_.with_noise(time, rank.fabric_rank, graph.node_id[op]);
}

CollectiveRequest Replayer::request_for(const Rank& rank, std::uint32_t op) const {
    const ExecutionGraph& graph = *rank.graph;
    const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
    CollectiveRequest request;
    request.kind = detail.kind;
    request.bytes = detail.bytes;
    request.bytes_are_a_shard =
        rank.job->all_gather_shards &&
        (detail.kind == CollectiveKind::AllGather || detail.kind == CollectiveKind::Gather ||
         detail.kind == CollectiveKind::Scatter);
    request.dimensions = detail.has_dimensions ? detail.dimensions : ~0U;
    request.priority = detail.priority;
    request.node_id = graph.node_id[op];
    request.own = config_.own_of(request.node_id);
    if (detail.pairs != kNoRole) {
        const PairDetail& pairs = graph.pairs[detail.pairs];
        request.pairs = {pairs.sends, pairs.receives, request.node_id};
    }
    if (detail.root_role != kNoRole) {
        const ProcessGroup& group = collectives_.group(rank.groups[detail.group_role].group);
        const std::uint32_t root = rank.job->fabric_ranks[rank.trace->peers[detail.root_role]];
        const auto& ranks = group.ranks();
        request.root =
            static_cast<std::uint32_t>(std::find(ranks.begin(), ranks.end(), root) - ranks.begin());
    }
    return request;
}

PointRequest Replayer::point_for(const Rank& rank, std::uint32_t op) const {
    const ExecutionGraph& graph = *rank.graph;
    const PointDetail& detail = graph.points[graph.detail[op]];
    const std::uint32_t peer = rank.job->fabric_ranks[rank.trace->peers[detail.peer_role]];
    const bool sends = graph.kind[op] == OpKind::Send;
    return {sends ? rank.fabric_rank : peer,
            sends ? peer : rank.fabric_rank,
            detail.tag,
            detail.bytes,
            graph.node_id[op]};
}

void Replayer::on_done(std::uint64_t argument) {
    const auto rank_number = static_cast<std::uint32_t>(argument >> 32);
    finish_op(ranks_[rank_number], static_cast<std::uint32_t>(argument));
    pump(rank_number);
}

void Replayer::finish_op(Rank& rank, std::uint32_t op) {
    const ExecutionGraph& graph = *rank.graph;
    ASTRA_CHECK(rank.parents_left[op] == kRunning, "an op finishes once");
    rank.parents_left[op] = kDone;
    ++finished_ops_;
    if (record_ops_) {
        ran_ops_.push_back(
            {static_cast<std::uint32_t>(&rank - ranks_.data()), op, rank.starts[op], queue_.now()});
    }
    const Activity activity = activity_of(graph, op);
    rank.activity.end(activity, queue_.now());
    if (rank.iterations != nullptr) {
        rank.iterations->end(
            rank.number, graph.iteration[op], activity == Activity::Compute, queue_.now());
    }
    const auto stream = static_cast<std::size_t>(stream_of(graph, op));
    if (static_cast<Stream>(stream) != Stream::None) {
        ++rank.free_streams[stream];
    }
    for (std::uint32_t i = graph.child_begin[op]; i < graph.child_begin[op + 1]; ++i) {
        const std::uint32_t child = graph.child[i];
        if (--rank.parents_left[child] == 0) {
            make_ready(rank, child);
        }
    }
    if (--rank.ops_left == 0) {
        rank.finish = queue_.now();
        ++finished_ranks_;
    }
}

std::vector<OpRecord> Replayer::op_records() const {
    std::vector<OpRecord> records;
    records.reserve(ran_ops_.size());
    for (const RanOp& ran : ran_ops_) {
        const Rank& rank = ranks_[ran.rank];
        records.push_back({RankId{rank.fabric_rank},
                           rank.graph->node_id[ran.op],
                           rank.graph->name_of(OpId{ran.op}),
                           name_of(rank.graph->kind[ran.op]),
                           ran.start,
                           ran.end});
    }
    return records;
}

std::vector<std::vector<std::uint32_t>> Replayer::ops_by_start() const {
    std::vector<RanOp> ran = ran_ops_;
    std::stable_sort(
        ran.begin(), ran.end(), [](const RanOp& a, const RanOp& b) { return a.start < b.start; });
    std::vector<std::vector<std::uint32_t>> ops(ranks_.size());
    for (const RanOp& one : ran) {
        ops[one.rank].push_back(one.op);
    }
    return ops;
}

std::vector<RankRecord> Replayer::records() const {
    std::vector<RankRecord> records;
    for (const Rank& rank : ranks_) {
        records.push_back(rank.activity.record(RankId{rank.fabric_rank}, rank.finish));
    }
    std::sort(records.begin(), records.end(), [](const RankRecord& a, const RankRecord& b) {
        return a.rank < b.rank;
    });
    return records;
}

}  // namespace astra
