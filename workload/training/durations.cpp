#include "workload/training/durations.h"

#include "system/model/compute_model.h"
#include "workload/replay/op_requests.h"

namespace astra {

namespace {

Duration duration_of(const ExecutionGraph& graph, std::uint32_t op, const SystemTimes& system) {
    const Duration recorded{graph.duration_ps[op]};
    if (system.replay.replay_only) {
        return recorded;
    }
    if (graph.kind[op] == OpKind::Compute && system.compute != nullptr) {
        return system.compute->time(work_of(graph, op)).value_or(recorded);
    }
    if (graph.kind[op] == OpKind::Collective) {
        const Duration measured = measured_cost(graph.collectives[graph.detail[op]], system);
        return measured.ps > 0 ? measured : recorded;
    }
    return recorded;
}

bool is_work(const ExecutionGraph& graph, std::uint32_t op, const SystemTimes& system) {
    if (graph.kind[op] == OpKind::Invalid) {
        return false;
    }
    if (graph.duration_ps[op] > 0 || duration_of(graph, op, system).ps > 0) {
        return true;
    }
    if (system.replay.replay_only) {
        return false;
    }
    switch (graph.kind[op]) {
        case OpKind::MemoryLoad:
        case OpKind::MemoryStore:
            return graph.memories[graph.detail[op]].bytes.count > 0;
        case OpKind::Send:
        case OpKind::Recv:
            return graph.points[graph.detail[op]].bytes.count > 0;
        case OpKind::Collective: {
            const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
            return detail.bytes.count > 0 || detail.kind == CollectiveKind::Barrier;
        }
        default:
            return false;
    }
}

}  // namespace

bool has_work(const ExecutionGraph& graph, const SystemTimes& system) {
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        if (is_work(graph, op, system)) {
            return true;
        }
    }
    return false;
}

Duration measured_cost(const CollectiveDetail& detail, const SystemTimes& system) {
    const MeasuredTime* measured = system.measured.of(detail.kind);
    return measured != nullptr ? measured->at(detail.bytes) : Duration{};
}

std::vector<Duration> expected_durations(const ExecutionGraph& graph, const SystemTimes& system) {
    std::vector<Duration> durations;
    durations.reserve(graph.size());
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        durations.push_back(duration_of(graph, op, system));
    }
    return durations;
}

}  // namespace astra
