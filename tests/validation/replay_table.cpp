#include "tests/validation/replay_table.h"

namespace astra::test {

Experiment replay_experiment(const ReplayRow& row, const ReplayScale& scale) {
    Experiment experiment;
    experiment.backend = row.backend;
    experiment.dimensions = row.network;
    for (NetworkDimension& dimension : experiment.dimensions) {
        dimension.bandwidth *= scale.bandwidth;
        dimension.latency_ps *= scale.latency;
    }
    const ReplaySystem& system = row.system;
    experiment.algorithms = system.algorithms;
    experiment.chunks = system.chunks;
    experiment.active_chunks = system.active;
    experiment.endpoint_delay_ns = system.delay;
    experiment.memory_bandwidth = system.memory;
    experiment.baseline = system.baseline;
    experiment.scheduling = system.scheduling;
    if (system.queues > 0) {
        experiment.queues = system.queues;
    }
    if (system.scale > 0) {
        experiment.injection_scale = system.scale;
    }
    TraceNode node = collective(1, row.kind, row.bytes * scale.bytes);
    if (system.dimensions != 0) {
        node.involved_dimensions.emplace();
        for (std::size_t k = 0; k < row.network.size(); ++k) {
            node.involved_dimensions->push_back((system.dimensions >> k & 1U) != 0);
        }
    }
    experiment.traces = everywhere(experiment.ranks(), {node});
    return experiment;
}

FinishRange replay_time(const ReplayRow& row, const ReplayScale& scale) {
    const ClosedForm form(replay_experiment(row, scale));
    const std::uint64_t bytes = row.bytes * scale.bytes;
    if (row.system.algorithms.front() == "doubleBinaryTree") {
        return form.double_binary_tree(bytes);
    }
    const std::uint32_t all = row.system.dimensions == 0 ? ~0U : row.system.dimensions;
    const std::uint64_t time = form.collective(row.kind, bytes, all);
    return {time, time};
}

}  // namespace astra::test
