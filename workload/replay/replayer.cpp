#include "workload/replay/replayer.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "workload/replay/issue_order.h"
#include "workload/replay/stuck_report.h"
#include "workload/replay/transfer_windows.h"

namespace astra {

namespace {

constexpr std::uint64_t pack(std::uint32_t rank, std::uint32_t op) {
    return (std::uint64_t{rank} << 32) | op;
}

Activity activity_of(const ExecutionGraph& graph, std::uint32_t op) {
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

bool communicates(const ExecutionGraph& graph, std::uint32_t op) {
    return graph.kind[op] == OpKind::Recv || takes_communication_stream(graph, op);
}

}  // namespace

Replayer::Replayer(EventQueue& queue,
                   CollectiveEngine& collectives,
                   PointToPoint& points,
                   MemoryModel& memory,
                   TransferQueue& transfers,
                   const ComputeModel& compute,
                   const ComputeNoise& noise,
                   const ReplayConfig& config,
                   Warnings& warnings)
    : queue_(queue),
      collectives_(collectives),
      points_(points),
      memory_(memory),
      transfers_(transfers),
      compute_(compute),
      noise_(noise),
      config_(config),
      requests_(collectives),
      preparation_(collectives, transfers, memory, config, points.rendezvous(), warnings) {}

void Replayer::add_job(Job added) {
    const std::uint32_t number = jobs();
    ReplayedJob& job = jobs_.emplace_back(std::move(added), ranks());
    preparation_.add(job, number, ranks_);
    if (job.order != nullptr) {
        job.issue_order = std::make_unique<IssueOrder>(
            *job.order, ranks_, job.first_rank, config_.streams.communication);
    }
    for (std::uint32_t r = job.first_rank; r < ranks(); ++r) {
        counts_.ops += ranks_[r].graph().size();
        counts_.communication_ops += ranks_[r].outline->communication_ops;
        waited_for_.resize(std::max<std::size_t>(waited_for_.size(), ranks_[r].fabric_rank + 1));
    }
}

void Replayer::start() {
    for (std::uint32_t job = 0; job < jobs_.size(); ++job) {
        queue_.schedule_at(jobs_[job].job.start, Callback::to<&Replayer::start_job>(*this, job));
    }
}

void Replayer::start_job(std::uint64_t number) {
    const ReplayedJob& job = jobs_[number];
    const auto count = static_cast<std::uint32_t>(job.job.fabric_ranks.size());
    for (std::uint32_t r = job.first_rank; r < job.first_rank + count; ++r) {
        ReplayedRank& rank = ranks_[r];
        rank.started = true;
        rank.finish = queue_.now();
        spans_.open(r, rank.graph().size());
        if (rank.streams.ops_left() == 0) {
            ++finished_ranks_;
        }
        rank.streams.begin(rank.outline->first_ops);
    }
    // An event a rank, so that a limit or an interruption is seen between them.
    for (std::uint32_t r = job.first_rank; r < job.first_rank + count; ++r) {
        queue_.schedule_after({}, Callback::to<&Replayer::start_rank>(*this, r));
    }
}

void Replayer::start_rank(std::uint64_t rank) {
    pump(static_cast<std::uint32_t>(rank), kNoCause);
}

// Issues all that can be issued, the lowest op first whatever its stream. Ops that take no time
// finish one by one in the order of their issue, each after everything that it does not hold up has
// been issued.
void Replayer::pump(std::uint32_t rank_number, Cause cause) {
    instant_.clear();
    for (std::size_t finished = 0;; ++finished) {
        const Recorder::Because because(spans_.recorder(), cause);
        issue_ready(rank_number);
        if (finished == instant_.size()) {
            return;
        }
        const std::uint32_t op = instant_[finished];
        cause = spans_.of(rank_number, op);
        spans_.end(rank_number, op, false);
        finish_op(rank_number, op);
    }
}

void Replayer::issue_ready(std::uint32_t rank_number) {
    ReplayedRank& rank = ranks_[rank_number];
    IssueOrder* order = rank.job->issue_order.get();
    const auto may_begin = [&](std::uint32_t op) {
        return order == nullptr || order->may_begin(rank.number, op);
    };
    for (std::uint32_t op = rank.streams.take(may_begin); op != kNoOp;
         op = rank.streams.take(may_begin)) {
        begin_op(rank_number, op);
        const Recorder::Because because(spans_.recorder(), spans_.of(rank_number, op));
        if (issue(rank_number, op)) {
            instant_.push_back(op);
        }
    }
}

void Replayer::begin_op(std::uint32_t rank_number, std::uint32_t op) {
    ReplayedRank& rank = ranks_[rank_number];
    if (rank.job->issue_order != nullptr && communicates(rank.graph(), op)) {
        rank.job->issue_order->began(rank.number, op);
        pump_released(*rank.job);
    }
    spans_.begin(rank, rank_number, op);
    const Activity activity = activity_of(rank.graph(), op);
    rank.activity.begin(activity, queue_.now());
    if (rank.iterations != nullptr) {
        rank.iterations->begin(
            rank.number, rank.graph().iteration[op], activity == Activity::Compute, queue_.now());
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
    const ReplayedRank& rank = ranks_[rank_number];
    const ExecutionGraph& graph = rank.graph();
    const Callback done = Callback::to<&Replayer::on_done>(*this, pack(rank_number, op));
    if (config_.replay_only && graph.kind[op] != OpKind::Invalid) {
        return issue_delay({graph.duration_ps[op]}, done);
    }
    switch (graph.kind[op]) {
        case OpKind::Compute:
            return issue_delay(compute_time(rank, op), done);
        case OpKind::MemoryLoad:
        case OpKind::MemoryStore: {
            const MemoryAccess access{rank.fabric_rank,
                                      graph.memories[graph.detail[op]].bytes,
                                      graph.kind[op] == OpKind::MemoryStore};
            queue_.schedule_at(memory_.access(access, queue_.now()), done);
            return false;
        }
        case OpKind::Send:
            points_.send(requests_.point(rank, op), done);
            return false;
        case OpKind::Recv:
            points_.receive(requests_.point(rank, op), done);
            return false;
        case OpKind::Collective:
            issue_collective(rank, op, done);
            return false;
        case OpKind::Invalid:
            ++counts_.skipped;
            return true;
        case OpKind::Metadata:
            return true;
    }
    return true;
}

void Replayer::issue_collective(const ReplayedRank& rank, std::uint32_t op, Callback done) {
    const ExecutionGraph& graph = rank.graph();
    const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
    const GroupMember& member = rank.group_of(detail);
    const CollectiveRequest request = requests_.collective(rank, op);
    if (detail.transfer == kNoTransfer) {
        collectives_.join(member.group, member.position, request, done);
    } else {
        transfers_.request(member.group, member.position, piece_of(detail), request, done);
    }
}

Duration Replayer::compute_time(const ReplayedRank& rank, std::uint32_t op) {
    const ExecutionGraph& graph = rank.graph();
    const std::optional<Duration> modelled = compute_.time(work_of(graph, op));
    const Duration time = modelled.value_or(Duration{graph.duration_ps[op]});
    if (!modelled && time.ps == 0 && !graph.computes[graph.detail[op]].is_instant()) {
        ++counts_.without_duration;
    }
    return noise_.stretch(time, rank.fabric_rank, graph.node_id[op]);
}

void Replayer::on_done(std::uint64_t argument) {
    const auto rank_number = static_cast<std::uint32_t>(argument >> 32);
    const auto op = static_cast<std::uint32_t>(argument);
    spans_.end(rank_number, op, true);
    finish_op(rank_number, op);
    pump(rank_number, spans_.of(rank_number, op));
}

void Replayer::finish_op(std::uint32_t rank_number, std::uint32_t op) {
    ReplayedRank& rank = ranks_[rank_number];
    rank.streams.finish(op);
    if (rank.job->issue_order != nullptr && communicates(rank.graph(), op)) {
        rank.job->issue_order->ended(rank.number, op);
        pump_released(*rank.job);
    }
    ++finished_ops_;
    const Activity activity = activity_of(rank.graph(), op);
    if (activity == Activity::Communication) {
        const PeerWait wait = wait_of(rank, op);
        const RankActivity::Exposed exposed = rank.activity.end_communication(wait, queue_.now());
        if (exposed.wait.ps > 0) {
            Duration& total = waited_for_[index(wait.last.rank)];
            total = total + exposed.wait;
        }
        if (exposed.transfer.ps > 0 && rank.graph().kind[op] == OpKind::Collective &&
            !config_.replay_only) {
            collectives_.add_exposed(exposed.transfer);
        }
    } else {
        rank.activity.end(activity, queue_.now());
    }
    if (rank.iterations != nullptr) {
        rank.iterations->end(
            rank.number, rank.graph().iteration[op], activity == Activity::Compute, queue_.now());
    }
    if (rank.streams.ops_left() == 0) {
        rank.finish = queue_.now();
        ++finished_ranks_;
    }
}

PeerWait Replayer::wait_of(const ReplayedRank& rank, std::uint32_t op) const {
    const ExecutionGraph& graph = rank.graph();
    if (config_.replay_only) {
        return {{queue_.now().ps - graph.duration_ps[op]}, {}};
    }
    if (graph.kind[op] != OpKind::Collective) {
        return points_.wait();
    }
    return graph.collectives[graph.detail[op]].transfer == kNoTransfer ? collectives_.wait()
                                                                       : transfers_.wait();
}

// What is no longer held is looked at after what happens at this instant already.
void Replayer::pump_released(const ReplayedJob& job) {
    if (!job.issue_order->has_released()) {
        return;
    }
    for (const std::uint32_t rank : job.issue_order->take_released()) {
        queue_.schedule_after({},
                              Callback::to<&Replayer::start_rank>(*this, job.first_rank + rank));
    }
}

std::string Replayer::describe_held() const {
    for (const ReplayedJob& job : jobs_) {
        if (job.issue_order != nullptr && !job.issue_order->example().empty()) {
            return job.issue_order->example();
        }
    }
    return "";
}

std::vector<WindowRecord> Replayer::windows(std::uint32_t job,
                                            std::uint32_t iteration,
                                            const OpTimes& times,
                                            const std::vector<TensorRecord>& tensors) const {
    return transfer_windows(
        jobs_[job], iteration, ranks_, preparation_.first_ranks(), times, transfers_, tensors);
}

std::uint32_t Replayer::whole_iterations(std::uint32_t job) const {
    std::uint32_t whole = jobs_[job].iterations.iterations();
    for (const ReplayedRank& rank : ranks_) {
        const ExecutionGraph& graph = rank.graph();
        if (rank.job != &jobs_[job] || graph.iteration.empty() || rank.streams.ops_left() == 0) {
            continue;
        }
        for (std::uint32_t op = 0; op < graph.size(); ++op) {
            if (!rank.streams.is_done(op)) {
                whole = std::min(whole, graph.iteration[op]);
            }
        }
    }
    return whole;
}

std::vector<RankRecord> Replayer::records() const {
    std::vector<std::vector<PeerWait>> unfinished(waited_for_.size());
    if (!finished()) {
        std::vector<UnfinishedWait> waits;
        collectives_.add_unfinished(waits);
        points_.add_unfinished(waits);
        transfers_.add_unfinished(waits);
        for (const UnfinishedWait& of : waits) {
            unfinished[index(of.rank)].push_back(of.wait);
        }
    }
    std::vector<RankRecord> records;
    for (const ReplayedRank& rank : ranks_) {
        const SimTime finish = rank.streams.ops_left() == 0 ? rank.finish : queue_.now();
        RankRecord& record = records.emplace_back(
            rank.activity.record(RankId{rank.fabric_rank}, finish, unfinished[rank.fabric_rank]));
        record.waited_for = waited_for_[rank.fabric_rank];
    }
    std::sort(records.begin(), records.end(), [](const RankRecord& a, const RankRecord& b) {
        return a.rank < b.rank;
    });
    return records;
}

std::vector<std::string> Replayer::describe_stuck(std::size_t most) const {
    return StuckReport(ranks_, collectives_, points_, transfers_, requests_).lines(most);
}

}  // namespace astra
